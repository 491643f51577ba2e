"""The linear relaxation of the time-indexed model, certified by its own duals.

The starts are first limited to a horizon, since few columns beyond the end of a good
schedule matter. That alone would prove nothing: the optimum may end later. So the
value reported is the dual function at the solver's prices, taken over all starts
there are (engine/proof/dual). It is a lower bound whatever the solver did, and where it
equals the restricted optimum it is the optimum of the whole relaxation; else the
horizon is doubled, at most to max a + sum o, beyond which nobody need start.

Larger models begin with a handful of starts a request: those of known schedules and those
cheapest at fluid prices. At the LP's prices the cheapest start of each request, of all
there are, joins the model, until the dual function reaches the restricted optimum. A
few per cent of the columns are enough. The LP's prices jump about; those
between them and the best known do less, so they are asked too, and each that is asked
is a bound in itself: stopped at any time, the best so far stands.
"""

from __future__ import annotations

import time

import numpy as np

from engine.bound import Bound, Prices
from engine.bound_method import BoundWords, bound_method
from engine.errors import InputError
from engine.proof.dual import Dual, evaluate
from engine.proof.fluid import fluid_duals
from engine.proof.time_indexed import model_up_to, relaxation_by_pulp, relaxation_by_scipy
from engine.proof.time_indexed.growing import GrowingRelaxation
from engine.proof.time_indexed.model import entries_up_to
from engine.simulate.look_ahead import look_ahead
from engine.simulate.schedule import visible_rounds

SMALL = 2_000  # entries: up to here the model is written out in PuLP
WHOLE = 50_000  # and up to here every start up to the horizon is in it
MOST_ENTRIES = 1_500_000
SECONDS_AN_ENTRY = 2e-5
GROWN = 20  # columns a request has in the end, roughly, where starts join as needed
SECONDS = 30.0  # for each of the two rows
SCALES = (0.5, 0.75, 0.9, 1.0, 1.1)  # of the fluid prices
SHARES = (0.0, 0.25, 0.5, 0.75)  # of the best prices known, blended with the LP's
EQUAL = 1e-7  # relative difference of the dual from the optimum


def _horizon(workload, memory: int) -> int:
    """Where a good schedule ends: a first idea of how far starts must go."""
    return int(look_ahead(workload, memory, workload.ascending(workload.volume)).finish.max())


def _entries_whole(workload, memory: int) -> int:
    return entries_up_to(workload, np.full(len(workload), _horizon(workload, memory)))


def _entries_at_least(workload, memory: int) -> int:
    """A number that `_entries_whole` is not below, without a schedule: none ends sooner."""
    visible = visible_rounds(workload.arrival)
    busy = int(visible.min()) + int(workload.volume.sum(dtype=float) / memory)  # need not fit int64
    return entries_up_to(
        workload, np.full(len(workload), max(busy, (visible + workload.output).max()))
    )


def _entries_grown(workload) -> int:
    return int(workload.arrival.max()) + GROWN * int(workload.output.sum())


def _cost(workload, memory: int) -> float:
    if _entries_at_least(workload, memory) <= WHOLE:
        whole = _entries_whole(workload, memory)
        if whole <= WHOLE:
            return 0.02 + SECONDS_AN_ENTRY * whole
    if _entries_grown(workload) > MOST_ENTRIES:
        return np.inf
    return min(2 * SECONDS, 0.5 + 1e-6 * len(workload) ** 3)


@bound_method(
    key="lp",
    title="LP relaxation",
    source="arXiv 2502.07115, equations 1 to 4, relaxed; cumulative capacity for every run",
    cost=_cost,
    tells_both=True,
    words=BoundWords(
        what="Lets a request start in fractions at several times. That is easier than the real "
        "task, so no schedule is better than the best such plan.",
        why="The solver only suggests the prices; its own result is not believed.",
    ),
    caps_prices=True,
)
def lp(workload, memory, progress, time_limit, share):
    kept = _relaxation(workload, memory, False, time_limit, share)
    progress(0.5)
    every = _relaxation(workload, memory, True, time_limit, share)
    return [_bound("lp", *kept), _bound("lp-preemptive", *every)]


def _bound(name: str, dual: Dual, how: str) -> Bound:
    return Bound(name, dual.value, True, dual.covers_preemption, how, (Prices(0, dual.prices),))


def _relaxation(workload, memory: int, cumulative: bool, time_limit, share) -> tuple[Dual, str]:
    """The dual function at the best prices found, and how it was found."""
    if _entries_whole(workload, memory) > WHOLE:
        seconds = share * SECONDS if time_limit is None else time_limit
        return _grown(workload, memory, cumulative, seconds)
    visible = visible_rounds(workload.arrival)
    latest = int(visible.max() + workload.output.sum())
    horizon = min(latest, _horizon(workload, memory))
    while True:
        last_start = np.full(len(workload), horizon)
        _check_size(entries_up_to(workload, last_start))
        solved = _solve(model_up_to(workload, memory, last_start), cumulative, time_limit)
        if solved is None:
            dual = evaluate(workload, memory, np.zeros(0))
            return dual, f"stopped after {time_limit:g} s without prices: the sum of all outputs"
        optimum, prices = solved
        dual = evaluate(workload, memory, _sound(prices, cumulative))
        if dual.value >= optimum - EQUAL * optimum:
            return dual, "LP optimum: dual function, in exact arithmetic, at the solver's prices"
        if horizon == latest:
            return dual, "dual function, in exact arithmetic, at the prices of an LP solved roughly"
        horizon = min(latest, 2 * horizon)


def _grown(workload, memory: int, cumulative: bool, seconds: float) -> tuple[Dual, str]:
    """The same, with a model to which starts are added as they are needed."""
    _check_size(_entries_grown(workload))
    begun = time.monotonic()
    fluid = fluid_duals(workload, memory)[-1 if cumulative else 0].prices
    tried = [evaluate(workload, memory, scale * fluid) for scale in SCALES]
    best = max(tried, key=lambda dual: dual.value)
    model = GrowingRelaxation(workload, memory, cumulative)
    model.add(look_ahead(workload, memory, workload.ascending(workload.volume)).start)
    for dual in tried:
        model.add(dual.start)
    while True:
        optimum, prices = model.solve(seconds - (time.monotonic() - begun))
        prices = _sound(prices, cumulative)
        tried = [evaluate(workload, memory, _blend(prices, best.prices, s)) for s in SHARES]
        best = max([best, *tried], key=lambda dual: dual.value)
        if optimum is not None and best.value >= optimum - EQUAL * optimum:
            return best, "LP optimum: dual function, in exact arithmetic, at the solver's prices"
        grew = [model.add(dual.start) for dual in tried]
        taken = time.monotonic() - begun
        if taken >= seconds or not any(grew):
            how = "dual function, in exact arithmetic, at the best prices met in solving the LP"
            return best, f"{how}, stopped after {taken:.0f} s"


def _blend(prices: np.ndarray, known: np.ndarray, share: float) -> np.ndarray:
    blended = np.zeros(max(len(prices), len(known)))
    blended[: len(prices)] += (1 - share) * prices
    blended[: len(known)] += share * known
    return blended


def _check_size(entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise InputError(
            f"the LP would have {entries:,} entries and {MOST_ENTRIES:,} is the most: use the "
            "bound fluid, or fewer or shorter requests"
        )


def _solve(model, cumulative: bool, time_limit):
    if len(model.held[0]) <= SMALL:
        return relaxation_by_pulp(model, cumulative)
    return relaxation_by_scipy(model, cumulative, time_limit)


def _sound(prices: np.ndarray, cumulative: bool) -> np.ndarray:
    """The solver's prices without its rounding: never negative, and never rising if cumulative."""
    prices = np.maximum(prices, 0.0)
    return np.maximum.accumulate(prices[::-1])[::-1] if cumulative else prices
