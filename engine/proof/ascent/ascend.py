"""The ascent itself: evaluate, add the plane, solve, and refine the grid when it is exhausted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.proof.ascent.grid import Grid, spread_knots
from engine.proof.ascent.master import Master
from engine.proof.dual import Dual, check_rounds, evaluate
from engine.simulate.schedule import Schedule, visible_rounds
from engine.workload import Workload

GRIDS = (61, 121, 241, 481)  # knots; each grid holds those of the one before
BLOCKS = 200
STAY = (0.5, 0.0)  # in-out: halfway back to the best prices, then where the master points
EXHAUSTED = 1e-5  # of the value: floor and ceiling of a grid have met
KEPT = 12  # schedules that a finer grid starts with
MOST_STEPS = 300  # on one grid
MAX_ROUNDS = 5_000_000  # some 1 GB of prices, hats and their sums


@dataclass(frozen=True, eq=False)
class AscentStep:
    """Where the ascent stands after one solution of the master.

    Attributes
    ----------
    dual : the best value so far and its prices, a bound in itself
    ceiling : rounds; what prices on this grid can reach at most, up to the solver's tolerance
    knots : of the grid
    mean_start : (n,) float64, rounds, when each request starts in the master's mixture
    """

    dual: Dual
    ceiling: float
    knots: int
    mean_start: np.ndarray

    @property
    def is_exhausted(self) -> bool:
        return self.ceiling - self.dual.value <= EXHAUSTED * abs(self.dual.value)


@dataclass(frozen=True, eq=False)
class _Problem:
    """What stays the same from grid to grid. Rounds count from the first decision."""

    workload: Workload
    memory: int
    schedule: Schedule
    base: np.ndarray
    scale: float
    never_rising: bool

    @property
    def first(self) -> int:
        return int(visible_rounds(self.workload.arrival).min())

    @property
    def block(self) -> np.ndarray:
        """(n,) requests that start at about the same time in a good schedule share a block."""
        n = len(self.workload)
        by_start = np.argsort(self.schedule.start, kind="stable")
        block = np.empty(n, np.int64)
        block[by_start] = np.arange(n) * min(BLOCKS, n) // n
        return block

    def grid(self, knots: int) -> Grid:
        spread = spread_knots(self.schedule.finish - self.first, len(self.base) - 1, knots)
        return Grid(self.base, spread, self.never_rising)

    def evaluate(self, prices: np.ndarray) -> Dual:
        return evaluate(self.workload, self.memory, np.append(np.zeros(self.first), prices))


@dataclass
class _Climb:
    """What is carried from step to step: the best value, its numbers on `knots`, schedules."""

    best: Dual
    knots: np.ndarray
    numbers: np.ndarray
    schedules: list[np.ndarray]

    def move_to(self, grid: Grid) -> None:
        """Write the same prices in the numbers of a finer grid."""
        hats = np.interp(grid.knots, self.knots, self.numbers[:-1])
        self.knots, self.numbers = grid.knots, np.append(hats, self.numbers[-1])


def ascend(
    workload: Workload, memory: int, schedule: Schedule, prices: np.ndarray, never_rising: bool
) -> Iterator[AscentStep]:
    """Better and better bounds, each step a certificate.

    Parameters
    ----------
    schedule : a good one; its starts are the first plane and its finishes place the knots
    prices : by round, to begin with; the bound never falls below theirs
    never_rising : keep to prices that never rise, which bound every run

    Raises
    ------
    InputError
        When there are more than MAX_ROUNDS rounds.
    """
    problem = _problem(workload, memory, schedule, prices, never_rising)
    best = problem.evaluate(prices[problem.first :])
    climb = _Climb(best, np.array([1, 2]), np.array([0.0, 0.0, problem.scale]), [best.start])
    for knots in GRIDS:
        grid = problem.grid(knots)
        yield from _on_grid(problem, grid, climb)
        if len(grid.knots) >= grid.rounds:
            return


def _problem(workload, memory, schedule, prices, never_rising) -> _Problem:
    first = int(visible_rounds(workload.arrival).min())
    later = prices[first:]
    rounds = check_rounds(max(int(schedule.finish.max()) - first, len(later), 2), MAX_ROUNDS)
    base = np.zeros(rounds + 1)
    base[: len(later)] = later
    base[0] = 0.0
    scale = max(base.sum(), 1e-300)
    return _Problem(workload, memory, schedule, base / scale, scale, never_rising)


def _on_grid(problem: _Problem, grid: Grid, climb: _Climb) -> Iterator[AscentStep]:
    """Steps on one grid until it is exhausted; `climb` goes along."""
    workload, block = problem.workload, problem.block
    blocks = int(block.max()) + 1
    master = Master(grid, blocks, problem.memory)

    def held(start: np.ndarray) -> np.ndarray:
        return grid.held(start - problem.first, workload.prompt, workload.output, block, blocks)

    def add(start: np.ndarray) -> None:
        latency = np.bincount(block, start + workload.output - workload.arrival, blocks)
        master.add_schedule(latency, held(start))
        added.append(start)

    added: list[np.ndarray] = []
    master.allow_idle(held(problem.schedule.start))
    for schedule in [problem.schedule.start, *climb.schedules[-KEPT:]]:
        add(schedule)
    climb.move_to(grid)
    for _ in range(MOST_STEPS):
        solved = master.solve()
        if solved is None:
            return
        ceiling, numbers = solved
        mean_start = (master.mixture()[:, block] * np.array(added)).sum(axis=0)
        master.constrain(grid.wrong_rounds(numbers))
        for stay in STAY:
            tried = stay * climb.numbers + (1 - stay) * numbers
            dual = problem.evaluate(grid.prices(tried))
            add(dual.start)
            climb.schedules.append(dual.start)
            if dual.value > climb.best.value:
                climb.best, climb.numbers = dual, tried
        step = AscentStep(climb.best, ceiling, len(grid.knots), mean_start)
        yield step
        if step.is_exhausted:
            return
