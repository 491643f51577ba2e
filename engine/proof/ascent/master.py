"""The linear program over the schedules met so far, in HiGHS, re-solved as columns come."""

from __future__ import annotations

import numpy as np

from engine.proof.ascent.column_program import ColumnProgram
from engine.proof.ascent.grid import Grid


class Master:
    """Rows: one a block of requests, one a hat, one for the base prices.

    A column is a schedule of one block, with its total latency as cost; its weights are
    a mixture (they sum to 1) in each block. A hat's row says that the memory held, weighed
    by the hat, is M times the hat's sum, less what constraint columns take: there is one
    for each round in which prices must not be negative (or must not rise).
    """

    def __init__(self, grid: Grid, blocks: int, memory: int) -> None:
        self.grid, self.blocks, self.memory = grid, blocks, memory
        # Memory is counted in parts of M, which keeps the numbers near 1.
        below = np.concatenate([np.ones(blocks), grid.weights, [-np.inf]])
        above = np.concatenate([np.ones(blocks), grid.weights, [1.0]])
        self._program = ColumnProgram(below, above)
        self._constrained: set[int] = set()
        self._schedules: list[int] = []  # the first column of each
        between = (grid.knots[1:] + grid.knots[:-1]) // 2
        self.constrain(np.union1d(grid.knots, between))

    def constrain(self, rounds: np.ndarray) -> None:
        """Keep prices to their constraint in these rounds."""
        new = [int(at) for at in rounds if int(at) not in self._constrained]
        self._constrained.update(new)
        if new:
            rows = np.array([self.grid.constraint(at) for at in new])
            self._program.add(np.zeros(len(new)), rows, self.blocks)

    def allow_idle(self, held: np.ndarray) -> None:
        """Let the memory stand free that a whole schedule, (blocks, G + 1) tokens, leaves free.

        The constraints together say no more; but with this column that schedule is a
        solution to begin with, whatever rounds are constrained so far.
        """
        room = np.append(self.grid.weights, 1.0)
        free = np.maximum(room - held.sum(axis=0) / self.memory, 0.0)
        self._program.add(np.zeros(1), free[None, :], self.blocks)

    def add_schedule(self, cost: np.ndarray, held: np.ndarray) -> None:
        """One column a block: its latency, and (blocks, G + 1) the memory it holds, tokens."""
        self._schedules.append(self._program.columns)
        entries = np.concatenate([np.eye(self.blocks), held / self.memory], axis=1)
        self._program.add(cost, entries)

    def solve(self) -> tuple[float, np.ndarray] | None:
        """The ceiling of this grid, rounds, and the numbers of the prices it asks for.

        None where HiGHS gives up.
        """
        solved = self._program.solve()
        return solved and (solved[0], -solved[1][self.blocks :] / self.memory)

    def mixture(self) -> np.ndarray:
        """(schedules, blocks) the weight of each schedule in each block."""
        weight = self._program.weights
        columns = np.array(self._schedules)[:, None] + np.arange(self.blocks)
        return np.where(columns < len(weight), weight[np.minimum(columns, len(weight) - 1)], 0.0)
