"""The price bound in seconds, for one workload: coarse cells to find prices, fine ones to judge.

Numbers of ramps mean the same on any cells, so those found on coarse cells are judged on
fine ones, at no loss but the few per cent by which coarse cells misjudge them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.machine.clock import Clock
from engine.proof.work.alone import time_alone
from engine.proof.work.ascent import Rise, ascend
from engine.proof.work.cells import cells_over
from engine.proof.work.dual import DualFunction, Requests
from engine.proof.work.envelope import Envelope, floors, work
from engine.proof.work.proof import MachinePrices
from engine.proof.work.ramps import Ramps, knots_between
from engine.simulate.look_ahead import look_ahead
from engine.workload import Workload

KNOTS = 40
# Cells times requests: for one value of L in the ascent, some 10 ms; for the last; for all steps.
COARSE = 3_000_000
FINE = 200_000_000
ASCENT = 150_000_000
FEWEST, MOST = 100, 2_000  # coarse cells
FEWEST_STEPS = 8

Told = Callable[[float, float], None]  # the share of the steps, and the value so far


@dataclass(frozen=True, eq=False)
class Search:
    """One workload on one machine, or on several alike.

    Attributes
    ----------
    requests : what L needs to know
    envelopes : the floors that its works are under
    shortest : no step takes less, seconds
    completion : (n,) of a good schedule on one machine, seconds after the first arrival;
        beyond the last of them machine time costs nothing
    """

    requests: Requests
    envelopes: tuple[Envelope, ...]
    shortest: float
    completion: np.ndarray

    @classmethod
    def of(cls, workload: Workload, memory: int, clock: Clock, replicas: int, every_run: bool):
        """`every_run`: also for runs that give up KV cache or cut prompts."""
        step = clock.step
        alone = time_alone(workload, step, every_run)
        envelopes = floors(step, every_run)
        works = [work(workload, memory, step, e, every_run) for e in envelopes]
        by_volume = workload.ascending(workload.volume)
        run = look_ahead(workload, memory, by_volume, clock=clock)
        return cls(
            Requests.of(workload, alone, works, replicas),
            envelopes,
            alone.shortest,
            run.finished_at - workload.arrival.min(),
        )

    def on_cells(self, count: int) -> DualFunction:
        longest = int(self.requests.output.max())
        last = float(self.completion.max())
        return DualFunction(self.requests, cells_over(last, self.shortest, longest, count))

    @cached_property
    def coarse(self) -> DualFunction:
        """L on cells for the ascent."""
        return self.on_cells(min(max(FEWEST, COARSE // len(self.completion)), MOST))

    @cached_property
    def knots(self) -> np.ndarray:
        """At ends of coarse cells, so that every ramp has some to stand on."""
        width = self.coarse.cells.width
        return np.unique(np.ceil(knots_between(self.completion, KNOTS) / width)) * width

    def rises(self, seconds: float | None, told: Told) -> list[tuple[float, Rise]]:
        """The steps of the ascent and when they came, until it ends.

        Steps are counted, so that the same requests have the same bound on every machine;
        only a limit in seconds that is given goes by the clock, from the first step on.
        """
        most = max(FEWEST_STEPS, ASCENT // (self.coarse.cells.count * len(self.completion)))
        begun, steps = None, []
        for rise in ascend(Ramps(self.coarse, self.knots), self.completion):
            begun = begun or time.monotonic()
            taken = time.monotonic() - begun
            steps.append((taken, rise))
            told(len(steps) / most, rise.best.value)
            if len(steps) >= most or (seconds is not None and taken >= seconds):
                break
        return steps

    @cached_property
    def fine(self) -> DualFunction:
        """L on cells for the last word."""
        return self.on_cells(max(FEWEST, FINE // len(self.completion)))

    def judged(self, numbers: np.ndarray) -> float:
        """The certified value of these numbers on fine cells, seconds, at least 0."""
        return max(0.0, self.fine.at(Ramps(self.fine, self.knots).prices(numbers)).value)

    def written(self, numbers: np.ndarray) -> MachinePrices:
        """The prices of these numbers, from which anybody can compute that value."""
        # Ramp g falls to 0 at knot g: before it, those from g on add up.
        falling = np.cumsum(numbers[:, ::-1], axis=1)[:, ::-1]
        values = np.append(falling, np.zeros((len(numbers), 1)), axis=1)
        cells, times = self.fine.cells, np.append(0.0, self.knots)
        return MachinePrices(self.envelopes, times, values, cells.width, cells.count)
