"""The best prices on given ramps, by column generation.

L is concave in the prices, the least of the planes that completion times define: the
latency of all requests, and for each ramp the work that it weighs less the machine time
under it. A linear program holds the planes met so far; its dual, which HiGHS solves, mixes
completion times so that the work up to each ramp is no more than the machine has time for.
Requests that complete one after another in a good schedule share a column each time, as
they are cheapest together at the same prices.

The program's value is a ceiling for these ramps and L at any prices on the way a floor.
Its prices jump about, so L is taken between them and the best known (in-out separation;
Ben-Ameur & Neto, Networks 49, 2007), and at the program's own where that is no better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.proof.ascent.column_program import ColumnProgram
from engine.proof.work.dual import Priced
from engine.proof.work.ramps import Ramps

BLOCKS = 40
STAY = 0.6  # of the way between the program's prices and the best known
MET = 5e-4  # of the value: floor and ceiling are as good as equal
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Rise:
    """Where the ascent stands.

    Attributes
    ----------
    best : the best value so far
    numbers : (envelopes, G) of its prices
    ceiling : seconds; what prices on these ramps and cells can reach at most
    """

    best: Priced
    numbers: np.ndarray
    ceiling: float

    @property
    def has_met(self) -> bool:
        return self.ceiling - self.best.value <= MET * self.ceiling


class _Planes:
    """Rows: one a block, whose weights sum to 1, and one an envelope and ramp."""

    def __init__(self, ramps: Ramps, completion: np.ndarray) -> None:
        n = len(completion)
        self.ramps, self.room = ramps, ramps.room.ravel()
        self.blocks = min(n, BLOCKS)
        self.block = np.empty(n, np.int64)
        self.block[np.argsort(completion, kind="stable")] = np.arange(n) * self.blocks // n
        ones, none = np.ones(self.blocks), np.full(self.room.size, -np.inf)
        # Work is counted in parts of the room, which keeps the numbers near 1.
        self.program = ColumnProgram(
            np.concatenate([ones, none]), np.concatenate([ones, np.ones(self.room.size)])
        )

    def add(self, cell: np.ndarray, completion: np.ndarray) -> None:
        latency = completion - self.ramps.function.requests.arrival
        worked = self.ramps.worked(cell, self.block).reshape(self.blocks, -1) / self.room
        self.program.add(
            np.bincount(self.block, latency, self.blocks),
            np.concatenate([np.eye(self.blocks), worked], axis=1),
        )

    def solve(self) -> tuple[float, np.ndarray] | None:
        """The ceiling and the numbers that reach it on the planes so far."""
        solved = self.program.solve()
        if solved is None:
            return None
        numbers = np.maximum(0.0, -solved[1][self.blocks :] / self.room)
        return solved[0], numbers.reshape(self.ramps.room.shape)


def ascend(ramps: Ramps, completion: np.ndarray) -> Iterator[Rise]:
    """Better and better prices, from none at all, until floor and ceiling meet.

    Parameters
    ----------
    completion : (n,) of a good schedule, seconds after the first arrival: the first plane
    """
    function = ramps.function
    numbers = np.zeros(ramps.room.shape)
    best = function.at(ramps.prices(numbers))
    if not ramps.knots.size:
        yield Rise(best, numbers, np.inf)
        return
    planes = _Planes(ramps, completion)
    planes.add(function.cell_of(completion), completion)
    planes.add(best.cell, best.completion)
    yield Rise(best, numbers, np.inf)
    for _ in range(MOST_STEPS):
        solved = planes.solve()
        if solved is None:
            return
        ceiling, asked = solved
        for stay in (STAY, 0.0):
            tried = stay * numbers + (1 - stay) * asked
            priced = function.at(ramps.prices(tried))
            planes.add(priced.cell, priced.completion)
            if priced.value > best.value:
                best, numbers = priced, tried
                break
        rise = Rise(best, numbers, ceiling)
        yield rise
        if rise.has_met:
            return
