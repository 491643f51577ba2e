"""A budget of work spent well: beams with different luck, each polished, the best kept.

From a second of work on the last beam has half of it, and the first half is spent as a budget
of that size would be. So twice the budget, from half a second on, does all that the budget
does and never ends worse.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine import wording
from engine.errors import InputError
from engine.improve.beam import beam_search
from engine.improve.polish import hold, polish
from engine.progress import Progress
from engine.simulate.look_ahead import look_ahead
from engine.simulate.schedule import visible_rounds
from engine.workload import Workload

# Work is counted, not timed, so that a budget gives the same schedule on every machine.
# A second of it, as measured: so many of the beam's steps, or of changes at n = 500. Changes
# take longer where there is more to look up, by about n ** 0.45.
STEPS, CHANGES = 8e8, 6e5
POLISH_SHARE = 0.3  # of the budget
WHOLE = 1.0  # seconds of work from which on half of it goes to the last beam
SKIPS = (0, 1, 5, 20)
PORTION = 100_000  # changes between two reports
MOST_ROUNDS = 100_000_000  # of the profile: 800 MB


def improved(
    workload: Workload,
    memory: int,
    seconds: float,
    report: Progress,
    report_better: Callable[[float, str, np.ndarray], None],
) -> np.ndarray:
    """(n,) int64 starts of the best schedule found with so many seconds' worth of work.

    Parameters
    ----------
    report : takes the share done and a sentence on the best mean latency so far
    report_better : takes the same and the starts, in place of it, when these are better than
        before
    """
    orders = (workload.volume, workload.peak, workload.output, workload.arrival)
    schedules = [
        look_ahead(workload, memory, workload.ascending(key), skip)
        for key in orders
        for skip in SKIPS
    ]
    start = min(schedules, key=lambda schedule: schedule.latency.sum()).start
    search = _Search(workload, memory, start, seconds, report, report_better)
    for part in _parts(seconds) if _is_backlog(workload) else [seconds]:
        search.spend(start, part)
    return search.best


def _is_backlog(workload: Workload) -> bool:
    return bool((visible_rounds(workload.arrival) == 0).all())


def _parts(seconds: float) -> list[float]:
    """How the budget is parted: the last part is half of it, and so on for the rest."""
    return [seconds] if seconds <= WHOLE else [*_parts(seconds / 2), seconds / 2]


class _Search:
    """The best schedule so far, the work done, and reports of both."""

    def __init__(self, workload, memory, start, seconds, report, report_better) -> None:
        self.workload, self.memory, self.best = workload, memory, start
        self.seconds, self.report, self.report_better = seconds, report, report_better
        self.reported: np.ndarray | None = None  # of the best schedules, the last one
        self.spent = 0.0
        self.luck = 0
        self.changes = CHANGES / max(1.0, (len(workload) / 500) ** 0.45)

    def spend(self, typical: np.ndarray, seconds: float) -> None:
        """A beam and its polish; on arrivals, or where no beam is worth it, polish only."""
        start, left = None, seconds
        if _is_backlog(self.workload):
            start = self._beam(typical, (1 - POLISH_SHARE) * seconds)
        if start is None:
            start = self.best
        else:
            left = POLISH_SHARE * seconds
        self._polish(start, round(left * self.changes))

    def _account(self, seconds: float) -> None:
        self.spent += seconds
        workload = self.workload
        mean = float((self.best + workload.output - workload.arrival).mean())
        sentence = f"best mean latency {wording.amount(mean, 'rounds')}"
        share = min(1.0, self.spent / self.seconds)
        if self.reported is self.best:
            self.report(share, sentence)
        else:
            self.report_better(share, sentence, self.best)
            self.reported = self.best

    def _offer(self, start: np.ndarray) -> None:
        if start.sum() < self.best.sum():
            self.best = start.copy()

    def _beam(self, typical: np.ndarray, seconds: float) -> np.ndarray | None:
        """The schedule of one more beam."""
        before = self.spent

        def stage_done(share: float) -> None:
            self._account(before + share * seconds - self.spent)

        self.luck += 1
        start = beam_search(
            self.workload, self.memory, typical, STEPS * seconds, self.luck, stage_done
        )
        if start is not None:
            self._offer(start)
            self._account(0.0)
        return start

    def _polish(self, start: np.ndarray, changes: int) -> None:
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
            self._account(some / self.changes)


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
