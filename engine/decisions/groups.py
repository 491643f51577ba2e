"""Which groups had been released by a decision (engine/policies/wait.py), from the arrivals alone.

Groups do not depend on memory: only on who has come, has left unserved, and how long the
oldest has waited.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from engine.decisions.decision import Decision
from engine.simulate.arrival_queue import GAVE_UP, TURNED_AWAY
from engine.simulate.schedule import Schedule, visible_rounds

FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Released:
    """Groups as they stand at a decision.

    Attributes
    ----------
    at : (n,) int64, the decision that released each request; a very large one: not yet
    pending : by type, those that wait for a group, the oldest first
    """

    at: np.ndarray
    pending: list[list[int]]


def released(decision: Decision, types: np.ndarray, sizes: np.ndarray, max_wait: float) -> Released:
    """Who had been released by a decision and who waits for a group.

    Parameters
    ----------
    types : (n,) int64, each request's type
    sizes : (types,) int64, how many of each start together
    """
    at = np.full(len(types), FAR)
    pending = []
    for kind, size in enumerate(sizes.tolist()):
        members = np.flatnonzero((types == kind) & (decision.schedule.seen <= decision.at))
        members = members[np.argsort(decision.turn[members])]
        pending.append(_release(decision, members, size, max_wait, at))
    return Released(at, pending)


def _first_decisions(schedule: Schedule, moments: np.ndarray) -> np.ndarray:
    """(k,) int64: the first decision at or after each moment."""
    if schedule.timetable is None:
        return visible_rounds(moments)
    return schedule.timetable.decisions_after(moments)


def _release(
    decision: Decision, members: np.ndarray, size: int, max_wait: float, at: np.ndarray
) -> list[int]:
    """Fill in `at` for one type's members, by arrival; those of them who still wait."""
    schedule, arrival = decision.schedule, decision.workload.arrival[members]
    leaves = _gone_from(decision, members)
    seen, due = schedule.seen[members], _first_decisions(schedule, arrival + max_wait)
    last = int(schedule.seen.max())  # from then on everybody has come
    waiting: deque[int] = deque()
    come, moment = 0, -1
    while True:
        next_one = int(seen[come]) if come < len(members) else FAR
        if waiting:
            next_one = min(next_one, max(int(due[waiting[0]]), moment + 1), max(last, moment + 1))
            next_one = min(next_one, moment + 1 if len(waiting) >= size else FAR)
        if next_one > decision.at:
            return [int(members[k]) for k in waiting if leaves[k] > decision.at]
        moment = next_one
        while come < len(members) and seen[come] <= moment:
            waiting.append(come)
            come += 1
        waiting = deque(k for k in waiting if leaves[k] > moment)
        opens = size if len(waiting) >= size else 0
        if waiting and (moment >= last or moment >= due[waiting[0]]):
            opens = len(waiting)
        for _ in range(opens):
            at[members[waiting.popleft()]] = moment


def _gone_from(decision: Decision, members: np.ndarray) -> np.ndarray:
    """(m,) int64: the first decision that each, if never admitted, is not there for any more."""
    left = decision.schedule.left
    gone = np.full(len(members), FAR)
    if left is not None:
        gone[left[members] == TURNED_AWAY] = -1
        quits = np.flatnonzero(left[members] == GAVE_UP)
        patience = decision.workload.admission_limits.patience
        moments = np.nextafter(decision.workload.arrival[members[quits]] + patience, np.inf)
        gone[quits] = _first_decisions(decision.schedule, moments)
    return gone
