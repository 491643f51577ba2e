"""From the fluid's prices up, for as long as there is work to spend.

The work of a step is counted, not timed, so that the same requests have the same bound on
every machine; only a time limit that is asked for goes by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.proof.ascent.ascend import BLOCKS, AscentStep, ascend
from engine.proof.dual import Dual
from engine.simulate.schedule import Schedule

# Seconds of a step, as measured: of a request, of a block's entry in the master, of a round.
REQUEST, ENTRY, ROUND = 2e-5, 1.2e-6, 5e-7
ENOUGH = 1e-4  # a finer grid that gained less is the last


@dataclass(frozen=True)
class Allowance:
    """How long a climb goes on: by counted work, or by the clock where a limit was asked for."""

    seconds: float
    by_clock: bool

    def times(
        self, steps: Iterator[AscentStep], schedule: Schedule
    ) -> Iterator[tuple[float, AscentStep]]:
        """Each step and the seconds it ended at; no step begins after the last."""
        begun, taken = time.monotonic(), 0.0
        for step in steps:
            taken = time.monotonic() - begun if self.by_clock else taken + _work(step, schedule)
            yield taken, step
            if taken > self.seconds:
                return


def _work(step: AscentStep, schedule: Schedule) -> float:
    requests, rounds = len(schedule.workload), int(schedule.finish.max())
    entries = min(BLOCKS, requests) * step.knots
    return REQUEST * requests + ENTRY * entries + ROUND * rounds


@dataclass(frozen=True, eq=False)
class Ascent:
    """How far the prices rose.

    Attributes
    ----------
    dual : at the best prices met, a bound in itself
    last : the step on which it ended; None where HiGHS gave up at once
    history : (seconds, value) pairs
    """

    dual: Dual
    last: AscentStep | None
    history: tuple[tuple[float, float], ...]


def climb(
    schedule: Schedule,
    start: Dual,
    never_rising: bool,
    allowance: Allowance,
    report: Callable[[float, float], None] = lambda share, value: None,
) -> Ascent:
    """The best prices met within the allowance.

    Parameters
    ----------
    schedule : a good one of the requests
    start : the dual function at the prices to begin with
    never_rising : keep to prices that never rise, which bound every run
    report : is told the share of the allowance that is spent, and the bound

    Raises
    ------
    InputError
        When there are too many rounds.
    """
    steps = ascend(schedule.workload, schedule.memory, schedule, start.prices, never_rising)
    history = [(0.0, start.value)]
    last: AscentStep | None = None
    exhausted_at = start.value
    for taken, last in allowance.times(steps, schedule):
        history.append((taken, last.dual.value))
        report(min(1.0, taken / allowance.seconds), last.dual.value)
        if last.is_exhausted:
            if last.dual.value - exhausted_at <= ENOUGH * last.dual.value:
                break
            exhausted_at = last.dual.value
    return Ascent(start if last is None else last.dual, last, tuple(history))
