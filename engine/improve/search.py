"""A budget of work spent well: beams with different luck, each polished, the best kept."""

from __future__ import annotations

import math

import numpy as np

from engine import wording
from engine.errors import InputError
from engine.improve.beam import LOOK, beam_search, stage_ends
from engine.improve.polish import hold, polish
from engine.progress import Progress
from engine.simulate.look_ahead import look_ahead
from engine.simulate.run import Run, visible_rounds
from engine.workload import Workload

# Work is counted, not timed, so that a budget gives the same schedule on every machine.
# Seconds, as measured: a round of a child and a change, at n = 500. Both take longer where
# there is more to copy and to look up, by about n ** 0.45.
CHILD_ROUND, CHANGE = 7e-8, 1.6e-6
POLISH_SHARE = 0.3  # of the budget
FIRST = (5, 10)  # width and children of a first, quick beam
FULL = (20, 40)  # and of the largest: more luck pays more than more width
SKIPS = (0, 1, 5, 20)
PORTION = 100_000  # changes between two reports
MOST_ROUNDS = 100_000_000  # of the profile: 800 MB


def improved(workload: Workload, memory: int, seconds: float, report: Progress) -> np.ndarray:
    """(n,) int64 starts of the best schedule found with so many seconds' worth of work.

    Parameters
    ----------
    report : is told the share done and the best mean latency so far
    """
    orders = (workload.volume, workload.peak, workload.output, workload.arrival)
    runs = [
        look_ahead(workload, memory, workload.ascending(key), skip)
        for key in orders
        for skip in SKIPS
    ]
    runs.sort(key=lambda run: run.latency.sum())
    search = _Search(workload, memory, runs[0].start, seconds, report)
    beams = _beams(workload, runs[0], seconds) if _is_backlog(workload) else []
    all_changes = int(seconds / (CHANGE * _growth(len(workload))))
    changes = int(POLISH_SHARE * all_changes / len(beams)) if beams else all_changes
    if not beams:
        search.polish(runs[0].start, changes)
    for width, children in beams:
        search.polish(search.beam(runs[0].start, width, children), changes)
    return search.best


def _growth(n: int) -> float:
    return max(1.0, (n / 500) ** 0.45)


def _is_backlog(workload: Workload) -> bool:
    return bool((visible_rounds(workload.arrival) == 0).all())


def _seconds_a_child(start: np.ndarray) -> float:
    """What one child a stage costs: the rounds of all stages, looking ahead included."""
    rounds = float(start.max()) + LOOK * (len(stage_ends(start)) + 1)
    return rounds * CHILD_ROUND * _growth(len(start))


def _beams(workload: Workload, run: Run, seconds: float) -> list[tuple[int, int]]:
    """The widths and children of the beams that the budget pays for."""
    children = (1 - POLISH_SHARE) * seconds / _seconds_a_child(run.start)
    first, full = math.prod(FIRST), math.prod(FULL)
    if children < first / 4:
        return []
    if children < 2 * first:
        return [_shape(children)]
    more = max(1, round((children - first) / full))
    return [FIRST] + more * [_shape((children - first) / more)]


def _shape(children: float) -> tuple[int, int]:
    width = max(2, round(math.sqrt(children / 2)))
    return width, max(3, round(children / width))


class _Search:
    """The best schedule so far, the work done, and reports of both."""

    def __init__(self, workload, memory, start, seconds, report) -> None:
        self.workload, self.memory, self.best = workload, memory, start
        self.seconds, self.report = seconds, report
        self.spent = 0.0
        self.luck = 0

    def _account(self, seconds: float) -> None:
        self.spent += seconds
        workload = self.workload
        mean = float((self.best + workload.output - workload.arrival).mean())
        share = min(1.0, self.spent / self.seconds)
        self.report(share, f"best mean latency {wording.amount(mean, 'rounds')}")

    def _offer(self, start: np.ndarray) -> None:
        if start.sum() < self.best.sum():
            self.best = start.copy()

    def beam(self, typical: np.ndarray, width: int, children: int) -> np.ndarray:
        """The schedule of one more beam."""
        work = width * children * _seconds_a_child(typical)
        before = self.spent

        def stage_done(share: float) -> None:
            self._account(before + share * work - self.spent)

        self.luck += 1
        start = beam_search(
            self.workload, self.memory, typical, width, children, self.luck, stage_done
        )
        self._offer(start)
        return start

    def polish(self, start: np.ndarray, changes: int) -> None:
        """Polish a schedule, in portions between which a report is made."""
        workload, start = self.workload, start.copy()
        used = _profile(workload, start)
        visible = visible_rounds(workload.arrival)
        for portion in range(0, changes, PORTION):
            self.luck += 1
            some = min(PORTION, changes - portion)
            polish(
                start, workload.prompt, workload.output, visible, used, self.memory, some, self.luck
            )
            self._offer(start)
            self._account(some * CHANGE * _growth(len(workload)))


def _profile(workload: Workload, start: np.ndarray) -> np.ndarray:
    """(T,) int64: memory held at the end of every round, with some room for later ends."""
    rounds = int((start + workload.output).max()) + 4 * int(workload.output.max())
    if rounds > MOST_ROUNDS:
        raise InputError(
            f"best-found keeps the memory of every round, of at most {MOST_ROUNDS:,}, but these "
            f"requests take {rounds:,}: use fewer requests or longer rounds"
        )
    used = np.zeros(rounds, np.int64)
    for i in range(len(workload)):
        hold(used, int(workload.prompt[i]), int(workload.output[i]), int(start[i]), 1)
    return used
