"""The best schedule in hindsight: the integer program, made small and tight, then solved.

Two cuts keep every schedule at least as good as the best one known, of total latency U:

- the others wait for at least w_j = ceil(a_j) - a_j, so no start is later than
  k_i <= U - sum_j o_j - sum_{j != i} w_j + a_i;
- at any prices, a schedule in which i starts at k costs at least L + (f_i(k) - min f_i)
  (engine/proof/dual), so a start for which that is above U is out.

Large requests exclude one another (engine/proof/time_indexed/exclusion.py), as the solver is told.
Total latency plus the sum of arrivals is a whole number, so a proof to within less than
one round is a proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.memory_curve import memory_curve
from engine.policy import POLICIES
from engine.progress import Progress, silent
from engine.proof.ascent import Allowance, climb
from engine.proof.dual import Dual
from engine.proof.fluid import fluid_duals
from engine.proof.time_indexed import TimeIndexedModel, model_up_to
from engine.proof.time_indexed.by_pulp import written_out
from engine.proof.time_indexed.quiet import quiet_solver, run_reporting
from engine.simulate.look_ahead import look_ahead
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule, visible_rounds
from engine.workload import Workload

MOST_ENTRIES = 300_000
MOST_STARTS = 5_000_000  # before those are left out that no optimum can have
MOST_REQUESTS = 60
KNOWN_BY = ("svf", "shortest-total", "mc-sf", "shortest-prompt", "fcfs")
PRICES_SHARE = 0.1  # of the time
SEARCH_SHARE, LEAST_SEARCH, MOST_SEARCH = 0.05, 0.1, 5.0  # seconds of work
SLACK = 1e-6  # rounds: floats never cut off an equally good schedule


@dataclass(frozen=True, eq=False)
class Hindsight:
    """What is known of the best schedule.

    Attributes
    ----------
    run : the best schedule found
    lower : rounds; no schedule that keeps its KV cache has a smaller total latency
    proved : the run attains it
    seconds : the time limit under which this was found
    """

    run: Run
    lower: float
    proved: bool
    seconds: float


def best_in_hindsight(
    workload: Workload, memory: int, seconds: float = 10.0, progress: Progress = silent
) -> Hindsight:
    """Solve the integer program for requests that all fit, within `seconds`.

    The solver runs in a thread of its own and reports here; a report that raises, as
    when a user cancels, stops it.

    Raises
    ------
    InputError
        When the program is too large, or the solver is missing or fails.
    """
    known = _best_known(workload, memory, seconds)
    dual = _best_prices(workload, memory, PRICES_SHARE * seconds)
    model = _promising(known, dual)
    if len(model.request) == len(workload):  # one start each is left: the known ones
        return Hindsight(known, float(known.latency.sum()), True, seconds)
    return _solve(model, known, dual.value, seconds, progress)


def _best_known(workload: Workload, memory: int, seconds: float) -> Run:
    """The best of the list policies and of a search that takes little of the time."""
    runs = [
        POLICIES[key].run(workload, memory, skip=skip) for key in KNOWN_BY for skip in (0, 1, 3)
    ]
    work = min(MOST_SEARCH, max(LEAST_SEARCH, SEARCH_SHARE * seconds))
    runs.append(POLICIES["best-found"].run(workload, memory, seconds=work))
    return min(runs, key=lambda run: run.latency.sum())


def _best_prices(workload: Workload, memory: int, seconds: float) -> Dual:
    """The dual function at the best prices of memory met within the time."""
    schedule = look_ahead(workload, memory, workload.ascending(workload.volume), skip=5)
    fluid = fluid_duals(workload, memory)[0]
    return climb(schedule, fluid, False, Allowance(seconds, by_clock=True)).dual


def _promising(known: Run, dual: Dual) -> TimeIndexedModel:
    """The model without the starts that no schedule as good as `known` can have."""
    workload = known.workload
    total = float(known.latency.sum())
    visible = visible_rounds(workload.arrival)
    waits = visible - workload.arrival
    spare = total - float(workload.output.sum()) - float(waits.sum()) + waits
    latest = np.floor(workload.arrival + spare + SLACK).astype(np.int64)
    _check_size(int(np.maximum(latest - visible + 1, 1).sum()), MOST_STARTS, "starts")
    model = model_up_to(workload, known.memory, np.maximum(latest, visible))
    keep = dual.value + _above_least(model, dual.prices) <= total + SLACK
    keep |= model.start == known.start[model.request]
    model = replace(model, request=model.request[keep], start=model.start[keep])
    _check_size(int(workload.output[model.request].sum()) + model.rounds, MOST_ENTRIES, "entries")
    return model


def _check_size(size: int, most: int, what: str) -> None:
    if size > most:
        raise InputError(
            f"the integer program would have {size:,} {what} and {most:,} is the most: use "
            "the bound lp or fluid, or fewer or shorter requests"
        )


def _above_least(model: TimeIndexedModel, prices: np.ndarray) -> np.ndarray:
    """(c,) float64: what each column costs, memory at its price, above its request's cheapest."""
    workload = model.workload
    last = int((model.start + workload.output[model.request]).max())
    price = np.zeros(last + 1)
    price[: len(prices)] = prices[: last + 1]
    upto, weighted = np.cumsum(price), np.cumsum(price * np.arange(last + 1))
    begin, end = model.start, model.start + workload.output[model.request]
    held = (workload.prompt[model.request] - begin) * (upto[end] - upto[begin])
    charge = model.cost + held + weighted[end] - weighted[begin]
    least = np.full(len(workload), np.inf)
    np.minimum.at(least, model.request, charge)
    return charge - least[model.request]


def _solve(
    model: TimeIndexedModel, known: Run, lower: float, seconds: float, progress
) -> Hindsight:
    import highspy  # slow to import
    import pulp  # slow to import

    problem, x, _ = written_out(model, whole=True)
    known_values = _values_of(model, known, x)

    solver_class: Any = quiet_solver()

    class BegunFromKnown(solver_class):
        """HiGHS with the known schedule as its first solution, by the hook that PuLP calls."""

        def callSolver(self, lp):
            solution = highspy.HighsSolution()
            solution.col_value = [known_values[variable.name] for variable in lp.variables()]
            lp.solverModel.setSolution(solution)
            lp.solverModel.setOptionValue("presolve", "off")  # it can take all the time there is
            run_reporting(lp.solverModel, seconds, progress)

    try:
        solver = BegunFromKnown(
            msg=False, gapRel=0.0, gapAbs=0.99, timeLimit=seconds, parallel="off"
        )
        problem.solve(solver)
    except pulp.PulpSolverError as failure:
        raise InputError(f"the solver HiGHS failed: {failure}") from None
    solver_bound = problem.solverModel.getInfo().mip_dual_bound
    if math.isfinite(solver_bound):
        lower = max(lower, solver_bound)
    chosen = np.array([variable.value() or 0.0 for variable in x]) > 0.5
    return _judged(model, known, chosen, lower, seconds)


def _values_of(model: TimeIndexedModel, known: Run, x) -> dict[str, float]:
    """Every variable's value in the known schedule, by its name."""
    is_known = model.start == known.start[model.request]
    column, row, tokens = model.held
    free = np.full(model.rounds, float(model.memory))
    np.subtract.at(free, row[is_known[column]], tokens[is_known[column]])
    values = {f"z_{t}": left for t, left in enumerate(free.tolist())}
    values |= {x[c].name: float(is_known[c]) for c in range(len(x))}
    return values


def _judged(model: TimeIndexedModel, known: Run, chosen, lower: float, seconds: float) -> Hindsight:
    """The better of the two schedules, checked exactly, and what the lower bound proves of it."""
    workload, run = model.workload, known
    if chosen.sum() == len(workload):
        start = np.empty(len(workload), np.int64)
        start[model.request[chosen]] = model.start[chosen]
        solved = Run(Schedule(workload, model.memory, start, start + workload.output))
        if memory_curve(solved).peak <= model.memory and solved.latency.sum() < run.latency.sum():
            run = solved
    total, arrivals = float(run.latency.sum()), float(workload.arrival.sum())
    lower = math.ceil(lower + arrivals - SLACK) - arrivals
    proved = lower >= total - SLACK
    return Hindsight(run, total if proved else lower, proved, seconds)
