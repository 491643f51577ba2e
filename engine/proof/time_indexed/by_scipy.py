"""The linear relaxation as one sparse matrix, solved by SciPy's HiGHS."""

from __future__ import annotations

import numpy as np

from engine.proof.time_indexed.model import TimeIndexedModel


def relaxation_by_scipy(
    model: TimeIndexedModel, cumulative: bool = False, time_limit: float | None = None
) -> tuple[float, np.ndarray] | None:
    """The optimum of the relaxation and the (first + rounds + 1,) prices of memory by round.

    None when the solver stopped at its time limit, in seconds. The prices are the duals of
    the capacity rows, sign turned; they may be negative by the solver's tolerance.
    """
    from scipy.optimize import linprog  # slow to import
    from scipy.sparse import coo_array  # slow to import

    n, columns, rounds = len(model.workload), len(model.request), model.rounds
    column, row, tokens = model.held
    free = np.arange(rounds)
    entries = [
        (np.ones(columns), model.request, np.arange(columns)),
        (tokens, n + row, column),
        (np.ones(rounds), n + free, columns + free),
    ]
    if cumulative:
        entries.append((-np.ones(rounds - 1), n + free[1:], columns + free[:-1]))
    value, down, across = (np.concatenate(part) for part in zip(*entries, strict=True))
    solved = linprog(
        np.concatenate([model.cost, np.zeros(rounds)]),
        A_eq=coo_array((value, (down, across)), shape=(n + rounds, columns + rounds)).tocsr(),
        b_eq=np.concatenate([np.ones(n), np.full(rounds, float(model.memory))]),
        method="highs",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if solved.status == 1:
        return None
    if not solved.success:
        raise RuntimeError(f"HiGHS could not solve the relaxation: {solved.message}")
    prices = -solved.eqlin.marginals[n:]
    return float(solved.fun), np.concatenate([np.zeros(model.first + 1), prices])
