"""Prices by round from few numbers: a multiple of base prices, and a hat on each knot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.compiled import kernel


@dataclass(frozen=True, eq=False)
class Grid:
    """A family of prices for rounds 1 .. T after the first decision.

    Attributes
    ----------
    base : (T + 1,) float64 >= 0, base prices summing to 1, base[0] unused
    knots : (G,) int64, ascending from 1 to T
    never_rising : whether the family is only of prices that never rise
    """

    base: np.ndarray
    knots: np.ndarray
    never_rising: bool

    @property
    def rounds(self) -> int:
        return len(self.base) - 1

    @cached_property
    def cell(self) -> np.ndarray:
        """(T + 1,) the knot at or before each round; the last cell's for the last knot."""
        at = np.searchsorted(self.knots, np.arange(self.rounds + 1), side="right") - 1
        return np.clip(at, 0, len(self.knots) - 2)

    @cached_property
    def part(self) -> np.ndarray:
        """(T + 1,) how far each round is from that knot to the next, 0 to 1."""
        left = self.knots[self.cell]
        return (np.arange(self.rounds + 1) - left) / (self.knots[self.cell + 1] - left)

    @cached_property
    def weights(self) -> np.ndarray:
        """(G,) the sum of each hat over all rounds."""
        cell, part = self.cell[1:], self.part[1:]
        size = len(self.knots)
        return np.bincount(cell, 1 - part, size) + np.bincount(cell + 1, part, size)

    def raw(self, numbers: np.ndarray) -> np.ndarray:
        """(T + 1,) float64: the combination itself, which may be negative or rise."""
        rounds = np.arange(self.rounds + 1)
        return np.interp(rounds, self.knots, numbers[:-1]) + numbers[-1] * self.base

    def prices(self, numbers: np.ndarray) -> np.ndarray:
        """The least prices of the family's kind that are nowhere below the combination."""
        above = np.maximum(self.raw(numbers), 0.0)
        above[0] = 0.0
        if self.never_rising:
            above[1:] = np.maximum.accumulate(above[:0:-1])[::-1]
        return above

    def wrong_rounds(self, numbers: np.ndarray) -> np.ndarray:
        """The round of each cell in which the combination breaks its constraint most.

        The constraint is lam[t] >= 0, or lam[t] >= lam[t+1] where prices must never rise.
        """
        raw = self.raw(numbers)
        value = raw - np.append(raw[1:], 0.0) if self.never_rising else raw
        rounds = np.flatnonzero(value[1:] < -1e-12 * np.abs(raw).max()) + 1
        by_cell = rounds[np.lexsort((value[rounds], self.cell[rounds]))]
        return by_cell[np.append(True, np.diff(self.cell[by_cell]) > 0)] if len(by_cell) else rounds

    def constraint(self, at: int) -> np.ndarray:
        """(G + 1,) the coefficients of that constraint at round `at`."""
        row = self._unit(at)
        if self.never_rising and at < self.rounds:
            row -= self._unit(at + 1)
        return row

    def _unit(self, at: int) -> np.ndarray:
        row = np.zeros(len(self.knots) + 1)
        row[self.cell[at]] += 1 - self.part[at]
        row[self.cell[at] + 1] += self.part[at]
        row[-1] = self.base[at]
        return row

    def held(self, start, prompt, output, block, blocks: int) -> np.ndarray:
        """(blocks, G + 1) the memory of each block's requests, weighed by hats and by base."""
        return _held(
            start, prompt, output, block, blocks, self.cell, self.part, self.base, len(self.knots)
        )


@kernel
def _held(start, prompt, output, block, blocks, cell, part, base, size):
    held = np.zeros((blocks, size + 1))
    for i in range(start.size):
        row = held[block[i]]
        for t in range(start[i] + 1, min(start[i] + output[i], base.size - 1) + 1):
            tokens = prompt[i] + t - start[i]
            row[cell[t]] += tokens * (1 - part[t])
            row[cell[t] + 1] += tokens * part[t]
            row[size] += tokens * base[t]
    return held


def spread_knots(finish: np.ndarray, rounds: int, count: int) -> np.ndarray:
    """Up to `count` knots from 1 to `rounds`: half by time, half where requests finish.

    Prices bend where requests leave; an even grid would miss the crowded beginning.
    """
    at = np.arange(1, rounds + 1)
    finished = np.searchsorted(np.sort(finish), at, side="right") / len(finish)
    measure = at / rounds + finished
    wanted = np.linspace(measure[0], measure[-1], count)
    return np.unique(np.concatenate([[1], 1 + np.searchsorted(measure, wanted), [rounds]]))
