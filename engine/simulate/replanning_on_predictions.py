"""Plans made anew as requests come and go, where outputs are only predicted.

The rule of engine/simulate/replanning.py on the plans of engine/simulate/look_ahead_plan.py. Where
memory runs out, one of two recoveries acts:

- vLLM's: the newest are preempted, nobody is admitted in that round, and those preempted
  return before any plan;
- starting over (engine/simulate/starting_over.py): those evicted wait like the others, the
  plan is dropped, and admission follows in the same round.

The kernel runs until it needs a plan. Then it stops within a decision, with `asks` set, and
goes on there when it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.arrival_queue import WAITS, arrival_order
from engine.simulate.look_ahead_plan import (
    admit_along,
    admit_if_it_fits,
    look_out,
    new_look_ahead_plan,
    recover,
    rounds_to_change,
)
from engine.simulate.preempting import NEWEST_DROPPED
from engine.simulate.schedule import Schedule
from engine.simulate.serve import serve
from engine.simulate.server import Server, advance, has_quit, need, next_decision
from engine.simulate.starting_over import start_over
from engine.simulate.timetable import NEVER
from engine.workload import Workload

STATE = np.dtype([(name, "i8") for name in ("next", "size", "admitted", "waiting", "asks")])

Batch = Callable[[np.ndarray, np.ndarray], np.ndarray]


class QueuePlan(NamedTuple):
    """Who starts next.

    Attributes
    ----------
    who : (n,) int64, the planned requests in order
    waits : (n,) bool, who waits to be planned
    now : record of dtype STATE: which of `who` is next, how many it holds, how many have been
        admitted since it was made, how many wait, whether a plan is asked for
    starts_over : the recovery
    """

    who: np.ndarray
    waits: np.ndarray
    now: np.void
    starts_over: bool


@part
def _forget(plan):
    plan.now.next = plan.now.size


@part
def _wait(plan, i):
    plan.waits[i] = True
    plan.now.waiting += 1


@part
def _hear(server, plan):
    """Those that have come wait, and those who have given up do no longer."""
    come, now = server.arrival_queue.now, server.now
    for k in range(now.gave_up_before, come.gave_up):
        i = has_quit(server, k)
        if i >= 0:
            plan.waits[i] = False
            plan.now.waiting -= 1
            _forget(plan)
    for i in range(now.arrived_before, come.arrived):
        if server.arrival_queue.status[i] == WAITS:
            _wait(plan, i)
            _forget(plan)


@part
def _begin(server, look_ahead_plan, plan):
    """Hear of who has come and gone, and make room; whether anybody may be admitted now."""
    _hear(server, plan)
    if not plan.starts_over:
        return not recover(server, look_ahead_plan)
    while need(server) > server.memory:
        _wait(plan, start_over(server, look_ahead_plan.predicted))
        _forget(plan)
    return True


@part
def _admit(server, look_ahead_plan, plan):
    """Admit along the plan; the round at which its next request might fit.

    Sets `asks` where it needs another plan.
    """
    at, now = server.round_clock.now.round, plan.now
    start = admit_along(server, look_ahead_plan, plan.who, 0)  # those preempted
    if server.now.queued > 0:
        return start
    while now.waiting > 0:
        if now.next == now.size:
            now.asks = 1
            return at
        i = plan.who[now.next]
        start = admit_if_it_fits(server, look_ahead_plan, i, False, 0.0)
        if start == at:
            now.next += 1
            now.admitted += 1
            now.waiting -= 1
            plan.waits[i] = False
        elif now.admitted > 0:
            _forget(plan)
        else:
            return start
    return NEVER


@kernel
def _along_plans(server, look_ahead_plan, plan):
    while plan.now.asks or next_decision(server):
        if not plan.now.asks:
            if not _begin(server, look_ahead_plan, plan):
                advance(server, 1, False)
                continue
            look_out(server, look_ahead_plan)
        plan.now.asks = 0
        start = _admit(server, look_ahead_plan, plan)
        if plan.now.asks:
            return
        advance(server, rounds_to_change(server, start), True)


def _take(plan: QueuePlan, chosen: np.ndarray) -> None:
    """The plan is now to start these."""
    plan.who[: len(chosen)] = chosen
    for name, value in (("next", 0), ("size", len(chosen)), ("admitted", 0)):
        plan.now[name] = value


def replanning_on_predictions(
    workload: Workload,
    memory: int,
    predicted: np.ndarray,
    batch: Batch,
    starts_over: bool,
    limit: int,
    clock: Clock,
    progress: Progress,
) -> Schedule:
    """Run the requests under the rule above.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    predicted : (n,) int64, the outputs that are reckoned with, at most M - s
    batch : from the (m,) waiting requests, as indices in order of (arrival, row), and the
        (n,) outputs that are reckoned with by now, those to start next, in order
    starts_over : whether those evicted start over, with their outputs raised
    limit : tokens that admission may plan to fill, at most M; M on an empty server
    """
    n = len(workload)
    look_ahead_plan = new_look_ahead_plan(
        predicted[arrival_order(workload)], memory, limit, NEWEST_DROPPED
    )
    plan = QueuePlan(np.empty(n, np.int64), np.zeros(n, bool), np.zeros(1, STATE)[0], starts_over)

    def go_on(server: Server) -> None:
        _along_plans(server, look_ahead_plan, plan)
        while plan.now["asks"]:
            _take(plan, batch(np.flatnonzero(plan.waits), look_ahead_plan.predicted))
            progress(float(server.now["finished"]) / n)
            _along_plans(server, look_ahead_plan, plan)

    return serve(workload, memory, clock, go_on, progress)
