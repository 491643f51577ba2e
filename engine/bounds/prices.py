"""The price bound: as good as a linear program, at sizes where none can be written.

In rounds, prices of memory come up to the value of the time-indexed LP (engine/proof/ascent). In
seconds, prices of machine time (engine.proof.work.dual) say more than `srpt`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from engine.bound import AGREE, Bound, Prices
from engine.bound_method import BoundWords, bound_method, find_method
from engine.machine.clock import ROUNDS
from engine.proof.ascent import MAX_ROUNDS, Allowance, Ascent, climb
from engine.proof.ascent.climb import ROUND
from engine.proof.fluid import fluid_duals, rounds_at_most
from engine.proof.work.ascent import Rise
from engine.proof.work.prices import Search, searches
from engine.simulate.look_ahead import look_ahead

SECONDS = 2.5  # of counted work for each of the two rows in rounds
ROWS = (("prices", False), ("prices-preemptive", True))


def _cost(workload, memory: int) -> float:
    n, rounds = len(workload), rounds_at_most(workload, memory)
    if rounds > MAX_ROUNDS:
        return math.inf
    return min(2 * SECONDS, 0.1 + 2e-3 * n) + 8 * ROUND * rounds


@bound_method(
    key="prices",
    title="Price bound",
    source="dual of the time-indexed LP; column generation over prices on a grid",
    units=("rounds", "seconds"),
    cost=_cost,
    tells_both=True,
    cost_on_gpu=lambda workload, memory: min(1.2, 1e-3 * len(workload)) + 1.2e-5 * len(workload),
    words=BoundWords(
        what="Starts from the fluid's prices and improves them step by step, as long as the bound "
        "rises.",
        why="The search only suggests the prices: stopped early, it has proved a little less, "
        "never something wrong.",
    ),
    words_on_gpu=BoundWords(
        what="Puts prices on seconds of the GPU's time that never rise, and charges every request "
        "for the work it cannot avoid, at its own cheapest moment.",
        why="The search only suggests the prices; the charge is summed with all rounding allowed "
        "for.",
    ),
)
def prices(workload, memory, progress, time_limit=None, clock=ROUNDS, replicas=1, share=1.0):
    if clock.is_rounds:
        return _in_rounds(workload, memory, progress, time_limit, share)
    return _in_seconds(workload, memory, progress, time_limit, clock, replicas)


def _in_rounds(workload, memory, progress, time_limit, share) -> list[Bound]:
    seconds = share * SECONDS if time_limit is None else time_limit / 2
    allowance = Allowance(seconds, by_clock=time_limit is not None)
    schedule = look_ahead(workload, memory, workload.ascending(workload.volume), skip=5)
    starts = fluid_duals(workload, memory)
    bounds = []
    for number, (name, never_rising) in enumerate(ROWS):

        def report(share: float, value: float, number=number) -> None:
            progress((number + share) / len(ROWS), f"certified bound {value:,.0f} rounds")

        start = starts[-1 if never_rising else 0]
        bounds.append(_reached(name, climb(schedule, start, never_rising, allowance, report)))
    return bounds


def _in_seconds(workload, memory, progress, time_limit, clock, replicas) -> list[Bound]:
    seconds = None if time_limit is None else time_limit / 2
    bounds = []
    for number, (name, every_run) in enumerate(ROWS):

        def report(share: float, value: float, number=number) -> None:
            progress((number + share) / len(ROWS), f"certified bound {value:,.0f} s")

        parts = searches(workload, memory, clock, replicas, every_run)
        bounds.append(_row(name, every_run, _judged(parts, seconds, report)))
    kept, every = bounds
    if kept.value < every.value:  # stopped early: what holds for every run holds for these
        kept = replace(every, bound=kept.bound, covers_preemption=False, covers_cut_prompts=False)
    simple = find_method("srpt").bounds(workload, memory, clock=clock, replicas=replicas)
    return [_beside(*pair) for pair in zip((kept, every), simple, strict=True)]


@dataclass(frozen=True)
class _Part:
    """The bound of one part: `value` at `numbers`, and how the ascent to them went.

    steps are (seconds, value) pairs; last is None where no prices say more than none.
    """

    search: Search
    value: float
    numbers: np.ndarray
    steps: list[tuple[float, float]]
    last: Rise | None


def _judged(parts: list[Search], seconds: float | None, report) -> list[_Part]:
    """Each part at the last prices that its ascent came to, or at none if that is no less."""
    priced, done, before = [], 0.0, 0.0
    for search in parts:

        def of_all(share: float, value: float, search=search, done=done, before=before) -> None:
            report(done + search.share * min(1.0, share), before + value)

        limit = None if seconds is None else seconds * search.share
        steps = search.rises(limit, of_all)
        last = steps[-1][1]
        value, alone = search.judged(last.numbers), search.judged(0.0 * last.numbers)
        history = [(taken, rise.best.value) for taken, rise in steps]
        if value > alone:
            priced.append(_Part(search, value, last.numbers, history, last))
        else:
            priced.append(_Part(search, alone, 0.0 * last.numbers, history, None))
        done, before = done + search.share, before + priced[-1].value
    return priced


def _history(parts: list[_Part]) -> tuple[tuple[float, float], ...]:
    """The value of all as one part after the other rose from where it began."""
    begun, value = 0.0, sum(part.steps[0][1] for part in parts)
    history = []
    for part in parts:
        first = part.steps[0][1]
        history += [(begun + taken, value + reached - first) for taken, reached in part.steps]
        begun, value = history[-1]
    return tuple(history)


def _row(name: str, every_run: bool, parts: list[_Part]) -> Bound:
    """The bounds of the parts add up."""
    priced = [(part.numbers, part.last) for part in parts if part.last is not None]
    if priced:
        knots = sum(numbers.shape[1] for numbers, _ in priced)
        ceiling = sum(last.ceiling for _, last in priced)
        reached = sum(last.best.value for _, last in priced)
        apart = f" in {len(priced)} parts of the requests" if len(priced) > 1 else ""
        how = (
            f"dual function at {len(priced[0][0])} prices of machine time that never rise, "
            f"on {knots} knots{apart}, rounding allowed for; the ascent stopped within "
            f"{100 * (ceiling / reached - 1):.2g} % of the best on these knots"
        )
    else:
        how = (
            "every request alone on its machine: at this load the prices found say no more, and "
            "the bound is weak"
        )
    return Bound(
        name,
        sum(part.value for part in parts),
        True,
        every_run,
        how,
        history=_history(parts),
        covers_cut_prompts=every_run,
        machine_prices=tuple(part.search.written(part.numbers) for part in parts),
    )


def _beside(bound: Bound, simple: Bound) -> Bound:
    """Told where the classic bound, which takes a moment, says more."""
    if simple.value <= bound.value * (1 + AGREE):
        return bound
    return replace(bound, method=f"{bound.method}; {simple.bound} says more: {simple.value:,.1f} s")


def _reached(name: str, climbed: Ascent) -> Bound:
    """The best bound met within the time, and the history of its value."""
    dual, last = climbed.dual, climbed.last
    if last is None:  # HiGHS gave up at once
        how = "dual function, in exact arithmetic, at the prices of a fluid"
    else:
        how = (
            f"dual function, in exact arithmetic, at prices on {last.knots} knots; no prices on "
            f"these reach more than {100 * (last.ceiling / dual.value - 1):.3f} % above"
        )
    prices = (Prices(0, dual.prices),)
    return Bound(name, dual.value, True, dual.covers_preemption, how, prices, climbed.history)
