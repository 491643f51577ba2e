"""The price bound in seconds, for one workload: coarse cells to find prices, fine ones to judge.

Numbers of ramps mean the same on any cells, so those found on coarse cells are judged on
fine ones, at no loss but the few per cent by which coarse cells misjudge them.

Requests that long quiet parts from one another are searched by themselves; so that more
parts are no more work, each has a share of the cells and steps by its number of requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.machine.clock import Clock
from engine.proof.work.alone import time_alone
from engine.proof.work.ascent import Rise, ascend
from engine.proof.work.cells import cells_over
from engine.proof.work.dual import DualFunction, WorkRequests
from engine.proof.work.envelope import Envelope, floors, work
from engine.proof.work.proof import MAX_CELLS, MAX_EFFORT, MachinePrices
from engine.proof.work.ramps import Ramps, knots_between
from engine.proof.work.stretches import parts
from engine.simulate.look_ahead import look_ahead
from engine.workload import Workload

KNOTS = 40
# Cells times requests: for one value of L in the ascent, some 10 ms; for the last; for all steps.
COARSE = 3_000_000
FINE = 200_000_000
ASCENT = 150_000_000
FEWEST, MOST = 100, 2_000  # coarse cells
FINEST = MAX_CELLS // 5  # fine cells; each takes some 150 bytes while it is judged
EFFORT = MAX_EFFORT // 2  # of a checker on them
FEWEST_STEPS = 8

Told = Callable[[float, float], None]  # the share of the steps, and the value so far


@dataclass(frozen=True, eq=False)
class Search:
    """One workload on one machine, or on several alike, or one part of it.

    Attributes
    ----------
    begin : of the part, seconds after the first arrival of all
    share : of all requests that are in the part
    requests : what L needs to know
    envelopes : the floors that its works are under
    shortest : no step takes less, seconds
    completion : (n,) of a good schedule on one machine, seconds after the part's first
        arrival; beyond the last of them machine time costs nothing
    """

    begin: float
    share: float
    requests: WorkRequests
    envelopes: tuple[Envelope, ...]
    shortest: float
    completion: np.ndarray

    @classmethod
    def of(
        cls,
        workload: Workload,
        memory: int,
        clock: Clock,
        replicas: int,
        every_run: bool,
        finished_at: np.ndarray,
    ) -> Search:
        """All of the requests; `every_run`: also for runs that give up KV cache or cut prompts."""
        step = clock.step
        alone = time_alone(workload, step, every_run)
        envelopes = floors(step, every_run)
        works = [work(workload, memory, step, e, every_run) for e in envelopes]
        return cls(
            0.0,
            1.0,
            WorkRequests.of(workload, alone, works, replicas),
            envelopes,
            alone.shortest,
            finished_at - workload.arrival.min(),
        )

    @property
    def size(self) -> int:
        return len(self.completion)

    def on_cells(self, count: int) -> DualFunction:
        longest = int(self.requests.output.max())
        last = float(self.completion.max())
        return DualFunction(self.requests, cells_over(last, self.shortest, longest, count))

    @cached_property
    def coarse(self) -> DualFunction:
        """L on cells for the ascent."""
        return self.on_cells(min(max(FEWEST, COARSE // self.size), MOST))

    @cached_property
    def knots(self) -> np.ndarray:
        """At ends of coarse cells, so that every ramp has some to stand on."""
        width = self.coarse.cells.width
        return np.unique(np.ceil(knots_between(self.completion, KNOTS) / width)) * width

    def rises(self, seconds: float | None, report: Told) -> list[tuple[float, Rise]]:
        """The steps of the ascent and when they came, until it ends.

        Steps are counted, so that the same requests have the same bound on every machine;
        only a limit in seconds that is given goes by the clock, from the first step on.
        """
        cost = self.coarse.cells.count * self.size
        most = max(FEWEST_STEPS, int(self.share * ASCENT) // cost)
        begun, steps = None, []
        for rise in ascend(Ramps(self.coarse, self.knots), self.completion):
            begun = begun or time.monotonic()
            taken = time.monotonic() - begun
            steps.append((taken, rise))
            report(len(steps) / most, rise.best.value)
            if len(steps) >= most or (seconds is not None and taken >= seconds):
                break
        return steps

    @cached_property
    def fine(self) -> DualFunction:
        """L on cells for the last word: as many as a checker can take in good time."""
        most = max(FEWEST, int(self.share * FINEST))
        count = min(max(FEWEST, int(self.share * FINE) // self.size), most)
        while (cells := self.on_cells(count)).effort > self.share * EFFORT and count > FEWEST:
            count //= 2
        return cells

    def judged(self, numbers: np.ndarray) -> float:
        """The certified value of these numbers on fine cells, seconds, at least 0."""
        return max(0.0, self.fine.at(Ramps(self.fine, self.knots).prices(numbers)).value)

    def written(self, numbers: np.ndarray) -> MachinePrices:
        """The prices of these numbers, from which anybody can compute that value."""
        times, values = Ramps(self.fine, self.knots).at_knots(numbers)
        cells = self.fine.cells
        return MachinePrices(self.begin, self.envelopes, times, values, cells.width, cells.count)


def searches(
    workload: Workload, memory: int, clock: Clock, replicas: int, every_run: bool
) -> list[Search]:
    """One for each part of the requests (engine.proof.work.stretches), in order of time."""
    run = look_ahead(workload, memory, workload.ascending(workload.volume), clock=clock)
    alone = time_alone(workload, clock.step, every_run).total
    part = parts(workload.arrival, run.finished_at, alone)
    every_part = []
    for number in range(part.max() + 1):
        here = part == number
        requests = workload.take(here)
        begin = float(requests.arrival.min() - workload.arrival.min())
        finished_at, share = run.finished_at[here], here.mean()
        search = Search.of(requests, memory, clock, replicas, every_run, finished_at)
        every_part.append(replace(search, begin=begin, share=share))
    return every_part
