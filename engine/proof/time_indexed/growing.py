"""The relaxation with few columns, kept inside HiGHS, which goes on from its last optimum."""

from __future__ import annotations

import math

import numpy as np

from engine.proof.time_indexed.quiet import quiet_solver
from engine.simulate.schedule import visible_rounds
from engine.workload import Workload


class GrowingRelaxation:
    """The relaxation of the time-indexed model, restricted to the starts it was given.

    Rows are one per request, its starts sum to 1, then one per round from first + 1 on.
    New starts are new columns; the optimum before is feasible with them and few pivots
    of the primal simplex away from the next. Presolve is off: its search for
    dominated columns takes a hundred times as long as the simplex.

    Parameters
    ----------
    workload, memory : the instance
    cumulative : memory left free in a round may be used in a later one
    """

    def __init__(self, workload: Workload, memory: int, cumulative: bool) -> None:
        quiet_solver()
        import highspy  # slow to import

        self.optimal = highspy.HighsModelStatus.kOptimal
        self.workload = workload
        self.memory = memory
        self.cumulative = cumulative
        self.first = int(visible_rounds(workload.arrival).min())
        self.starts: list[set[int]] = [set() for _ in range(len(workload))]
        self.rounds = 0
        self.infinity = highspy.kHighsInf
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("presolve", "off")
        self.solver.setOptionValue("simplex_strategy", 4)  # primal
        n = len(workload)
        self.solver.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, np.int32), [], [])

    def add(self, starts: np.ndarray) -> bool:
        """Allow each request one more start; whether any of them is new."""
        new = np.array(
            [i for i, k in enumerate(starts.tolist()) if k not in self.starts[i]], np.int64
        )
        if len(new) == 0:
            return False
        for i in new.tolist():
            self.starts[i].add(int(starts[i]))
        self._reach(int((starts + self.workload.output)[new].max()) - self.first)
        self._add_columns(new, starts[new])
        return True

    def _add_columns(self, request: np.ndarray, start: np.ndarray) -> None:
        """x[i, k] for the pairs given: 1 in i's row, s + j in that of round k + j."""
        output = self.workload.output[request]
        length = output + 1
        begin = np.cumsum(length) - length
        j = np.arange(length.sum()) - np.repeat(begin, length)
        row = np.repeat(len(self.workload) + start - self.first - 1, length) + j
        tokens = np.repeat(self.workload.prompt[request], length) + j
        row[begin], tokens[begin] = request, 1
        latency = start + output - self.workload.arrival[request]
        self._add(latency, begin, row, tokens)

    def _reach(self, rounds: int) -> None:
        """Rows, and free memory to carry over, for that many rounds."""
        if rounds <= self.rounds:
            return
        more = rounds - self.rounds
        self.solver.addRows(
            more,
            np.full(more, -self.infinity),
            np.full(more, float(self.memory)),
            0,
            np.zeros(more, np.int32),
            [],
            [],
        )
        if self.cumulative:
            # Round t's memory goes to t + 1; the last round's is added once a later one exists.
            row = np.arange(max(self.rounds - 1, 0), rounds - 1) + len(self.workload)
            pairs = np.stack([row, row + 1], axis=1).ravel()
            give_and_take = np.tile([1, -1], len(row))
            self._add(np.zeros(len(row)), np.arange(len(row)) * 2, pairs, give_and_take)
        self.rounds = rounds

    def _add(self, cost, begin, row, value) -> None:
        self.solver.addCols(
            len(cost),
            np.asarray(cost, float),
            np.zeros(len(cost)),
            np.full(len(cost), self.infinity),
            len(row),
            begin.astype(np.int32),
            row.astype(np.int32),
            value.astype(float),
        )

    def solve(self, seconds: float = math.inf) -> tuple[float | None, np.ndarray]:
        """The optimum, None where time ran out before it, and the price of memory by round."""
        # The limit counts from the first solve on.
        self.solver.setOptionValue("time_limit", self.solver.getRunTime() + max(seconds, 0.0))
        self.solver.run()
        solved = self.solver.getModelStatus() == self.optimal
        prices = np.zeros(self.first + 1 + self.rounds)
        duals = self.solver.getSolution().row_dual[len(self.workload) :]
        prices[self.first + 1 :] = np.maximum(-np.array(duals), 0)
        return self.solver.getObjectiveValue() if solved else None, prices
