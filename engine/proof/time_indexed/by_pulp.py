"""The model written out row by row, as the mathematics reads, for small instances."""

from __future__ import annotations

import numpy as np

from engine.proof.time_indexed.exclusion import exclusions
from engine.proof.time_indexed.model import TimeIndexedModel
from engine.proof.time_indexed.quiet import quiet_solver


def written_out(model: TimeIndexedModel, cumulative: bool = False, whole: bool = False):
    """The PuLP problem, its variables by column, and its capacity rows by round.

    Where variables are whole, the cuts of `exclusions` are in it, which its relaxation lacks.
    """
    import pulp  # slow to import

    problem = pulp.LpProblem("time_indexed", pulp.LpMinimize)
    kind = "Binary" if whole else "Continuous"
    columns = list(zip(model.request.tolist(), model.start.tolist(), strict=True))
    x = [problem.add_variable(f"x_{i}_{k}", 0, None, kind) for i, k in columns]
    z = [problem.add_variable(f"z_{t}", 0) for t in range(model.rounds)]

    problem += pulp.lpSum(cost * starts for cost, starts in zip(model.cost, x, strict=True))
    for i in range(len(model.workload)):
        starts = np.flatnonzero(model.request == i)
        problem += pulp.lpSum(x[c] for c in starts) == 1, f"request_{i}"

    used: list[list] = [[] for _ in range(model.rounds)]
    for c, t, tokens in zip(*(part.tolist() for part in model.held), strict=True):
        used[t].append(tokens * x[c])
    for t in range(model.rounds):
        left_over = z[t - 1] if cumulative and t > 0 else 0
        problem += pulp.lpSum(used[t]) + z[t] == model.memory + left_over, f"round_{t}"
    for number, (most, excluding) in enumerate(exclusions(model) if whole else ()):
        problem += pulp.lpSum(x[c] for c in excluding) <= most, f"exclusion_{number}"
    rows = {row.name: row for row in problem.constraints()}
    return problem, x, [rows[f"round_{t}"] for t in range(model.rounds)]


def relaxation_by_pulp(
    model: TimeIndexedModel, cumulative: bool = False
) -> tuple[float, np.ndarray]:
    """The same as `relaxation_by_scipy`, through PuLP."""
    import pulp  # slow to import

    problem, _, rows = written_out(model, cumulative)
    problem.solve(quiet_solver()(msg=False))
    if problem.status != pulp.LpStatusOptimal:
        raise RuntimeError(f"HiGHS could not solve the relaxation: {pulp.LpStatus[problem.status]}")
    prices = [-row.pi for row in rows]
    return float(problem.objective.value()), np.array([0.0] * (model.first + 1) + prices)
