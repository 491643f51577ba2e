"""The linear program over the schedules met so far, in HiGHS, re-solved as columns come."""

from __future__ import annotations

import numpy as np

from engine.ascent.grid import Grid
from engine.time_indexed.quiet import quiet_solver

PRIMAL_SIMPLEX = 4  # new columns leave the last solution feasible: go on from there


class Master:
    """Rows: one a block of requests, one a hat, one for the base prices.

    A column is a schedule of one block, with its total latency as cost; its weights are
    a mixture (they sum to 1) in each block. A hat's row says that the memory held, weighed
    by the hat, is M times the hat's sum, less what constraint columns take: there is one
    for each round in which prices must not be negative (or must not rise).
    """

    def __init__(self, grid: Grid, blocks: int, memory: int) -> None:
        quiet_solver()
        import highspy

        self.grid, self.blocks, self.memory = grid, blocks, memory
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("presolve", "off")
        self._highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        self._inf = highspy.kHighsInf
        self._optimal = highspy.HighsModelStatus.kOptimal
        # Memory is counted in parts of M, which keeps the numbers near 1.
        below = np.concatenate([np.ones(blocks), grid.weights, [-self._inf]])
        above = np.concatenate([np.ones(blocks), grid.weights, [1.0]])
        rows = len(below)
        self._highs.addRows(
            rows, below, above, 0, np.zeros(rows, np.int32), np.zeros(0, np.int32), np.zeros(0)
        )
        self._constrained: set[int] = set()
        self._schedules: list[int] = []  # the first column of each
        between = (grid.knots[1:] + grid.knots[:-1]) // 2
        self.constrain(np.union1d(grid.knots, between))

    def _add(self, cost: np.ndarray, entries: np.ndarray, first_row: int) -> None:
        """Columns from the rows of `entries`, each (.., rows from first_row on)."""
        column, row = np.nonzero(entries)
        begins = np.searchsorted(column, np.arange(len(cost)))
        none = np.zeros(len(cost))
        self._highs.addCols(
            len(cost),
            cost,
            none,
            none + self._inf,
            len(row),
            begins.astype(np.int32),
            (first_row + row).astype(np.int32),
            entries[column, row],
        )

    def constrain(self, rounds: np.ndarray) -> None:
        """Keep prices to their constraint in these rounds."""
        new = [int(at) for at in rounds if int(at) not in self._constrained]
        self._constrained.update(new)
        if new:
            rows = np.array([self.grid.constraint(at) for at in new])
            self._add(np.zeros(len(new)), rows, self.blocks)

    def allow_idle(self, held: np.ndarray) -> None:
        """Let the memory stand free that a whole schedule, (blocks, G + 1) tokens, leaves free.

        The constraints together say no more; but with this column that schedule is a
        solution to begin with, whatever rounds are constrained so far.
        """
        room = np.append(self.grid.weights, 1.0)
        free = np.maximum(room - held.sum(axis=0) / self.memory, 0.0)
        self._add(np.zeros(1), free[None, :], self.blocks)

    def add_schedule(self, cost: np.ndarray, held: np.ndarray) -> None:
        """One column a block: its latency, and (blocks, G + 1) the memory it holds, tokens."""
        self._schedules.append(self._highs.getNumCol())
        entries = np.concatenate([np.eye(self.blocks), held / self.memory], axis=1)
        self._add(cost, entries, 0)

    def solve(self) -> tuple[float, np.ndarray] | None:
        """The ceiling of this grid, rounds, and the numbers of the prices it asks for.

        None where HiGHS gives up, as it may on numbers that differ too much in size.
        """
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        solution = np.array(self._highs.getSolution().row_dual)[self.blocks :]
        return self._highs.getInfo().objective_function_value, -solution / self.memory

    def mixture(self) -> np.ndarray:
        """(schedules, blocks) the weight of each schedule in each block."""
        weight = np.array(self._highs.getSolution().col_value)
        columns = np.array(self._schedules)[:, None] + np.arange(self.blocks)
        return np.where(columns < len(weight), weight[np.minimum(columns, len(weight) - 1)], 0.0)
