"""Prices that never rise, from few numbers: sums of ramps.

Ramp g is 1 up to knot g - 1, falls evenly to 0 at knot g, and is 0 from there. Sums of
multiples >= 0 of the ramps are exactly the prices that are straight between knots, never
rise and are 0 after the last knot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.compiled import kernel
from engine.proof.work.dual import DualFunction, prefix_sums


@dataclass(frozen=True, eq=False)
class Ramps:
    """The ramps on some knots, on the cells of a dual function.

    Attributes
    ----------
    function : L
    knots : (G,) float64, seconds after the first arrival, ascending from above 0
    """

    function: DualFunction
    knots: np.ndarray

    @cached_property
    def shapes(self) -> np.ndarray:
        """(G, T) float64, each ramp by cell, at its middle."""
        middle = self.function.cells.middle
        before = np.append(0.0, self.knots[:-1])[:, None]
        return np.clip((self.knots[:, None] - middle) / (self.knots[:, None] - before), 0.0, 1.0)

    def at_knots(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The prices for (envelopes, G) numbers >= 0 as they bend: times and (envelopes, G + 1)."""
        # Ramp g falls to 0 at knot g: before it, those from g on add up.
        falling = np.cumsum(numbers[:, ::-1], axis=1)[:, ::-1]
        none = np.zeros((len(numbers), 1))
        return np.append(0.0, self.knots), np.append(falling, none, axis=1)

    def prices(self, numbers: np.ndarray) -> np.ndarray:
        """(envelopes, T) the prices for (envelopes, G) numbers >= 0, each cell's at its middle.

        They are straight between knots, so no ramp need be written out cell by cell.
        """
        times, values = self.at_knots(numbers)
        middle = self.function.cells.middle
        by_cell = np.stack([np.interp(middle, times, row, right=0.0) for row in values])
        # Rounding may let a price rise a little.
        return np.maximum.accumulate(by_cell[:, ::-1], axis=1)[:, ::-1]

    @cached_property
    def room(self) -> np.ndarray:
        """(envelopes, G) the machine time under each ramp, seconds."""
        seconds = self.function.cells.width * self.function.requests.replicas
        return np.tile(seconds * self.shapes.sum(axis=1), (len(self.function.grouped), 1))

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray]:
        sums = [prefix_sums(shape) for shape in self.shapes]
        return np.stack([first for first, _ in sums]), np.stack([second for _, second in sums])

    def worked(self, cell: np.ndarray, block: np.ndarray) -> np.ndarray:
        """(blocks, envelopes, G) work weighed by each ramp, for completions in these cells."""
        return np.stack(
            [
                _worked(cell, block, block.max() + 1, *grouped, self.shapes, *self._sums)
                for grouped in self.function.grouped
            ],
            axis=1,
        )


@kernel
def _worked(cell, block, blocks, last, level, fall, tail, shapes, plain, weighted):
    ramps, T = shapes.shape
    worked = np.zeros((blocks, ramps))
    for i in range(cell.size):
        m = cell[i]
        begin, end, at = min(m - last[i] + 1, T), min(m + 1, T), m - last[i]
        for r in range(ramps):
            work = (level[i] - fall[i] * m) * (plain[r, end] - plain[r, begin])
            work += fall[i] * (weighted[r, end] - weighted[r, begin])
            worked[block[i], r] += work + (tail[i] * shapes[r, at] if at < T else 0.0)
    return worked


def knots_between(completion: np.ndarray, count: int) -> np.ndarray:
    """Up to `count` knots up to the last completion: half by time, half by completions.

    Prices bend where requests leave; an even grid would miss the crowded beginning. Rounds
    that take no time leave nothing to price: no knots.
    """
    moments = np.append(0.0, np.sort(completion))
    if moments[-1] == 0.0:
        return np.empty(0)
    measure = moments / moments[-1] + np.linspace(0.0, 1.0, len(moments))
    knots = np.interp(np.linspace(0.0, 2.0, count + 1)[1:], measure, moments)
    return np.unique(knots[knots > 0.0])
