"""A linear program in HiGHS that is solved again and again as columns come."""

from __future__ import annotations

import numpy as np

from engine.proof.time_indexed.quiet import quiet_solver

PRIMAL_SIMPLEX = 4  # new columns leave the last solution feasible: go on from there


class ColumnProgram:
    """Minimise cost over columns >= 0, with rows between `below` and `above`."""

    def __init__(self, below: np.ndarray, above: np.ndarray) -> None:
        quiet_solver()
        import highspy  # slow to import

        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("presolve", "off")
        self._highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        self._optimal = highspy.HighsModelStatus.kOptimal
        rows = len(below)
        self._highs.addRows(
            rows, below, above, 0, np.zeros(rows, np.int32), np.zeros(0, np.int32), np.zeros(0)
        )

    @property
    def columns(self) -> int:
        return self._highs.getNumCol()

    def add(self, cost: np.ndarray, entries: np.ndarray, first_row: int = 0) -> None:
        """Columns from the rows of `entries`, each (.., rows from first_row on)."""
        column, row = np.nonzero(entries)
        begins = np.searchsorted(column, np.arange(len(cost)))
        none = np.zeros(len(cost))
        self._highs.addCols(
            len(cost),
            cost,
            none,
            none + np.inf,
            len(row),
            begins.astype(np.int32),
            (first_row + row).astype(np.int32),
            entries[column, row],
        )

    def solve(self) -> tuple[float, np.ndarray] | None:
        """The optimum and the dual value of each row.

        None where HiGHS gives up, as it may on numbers that differ too much in size.
        """
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        duals = np.array(self._highs.getSolution().row_dual)
        return self._highs.getInfo().objective_function_value, duals

    @property
    def weights(self) -> np.ndarray:
        """(columns,) the solution."""
        return np.array(self._highs.getSolution().col_value)
