"""The price bound: as good as a linear program, at sizes where none can be written.

In rounds, prices of memory come up to the value of the time-indexed LP (engine/ascent). In
seconds, prices of machine time (engine/work/dual.py) say more than `srpt`.
"""

from __future__ import annotations

import time
from dataclasses import replace

from engine.ascent import Step, ascend
from engine.bound import Bound, bound_method, find_method
from engine.simulate.look_ahead import look_ahead
from engine.work.prices import Search

SECONDS = 2.0  # for each of the two rows in rounds
SECONDS_OF_ASCENT = 0.5  # for the ascent of each of the two rows in seconds
ENOUGH = 1e-4  # a finer grid that gained less is the last
ROWS = (("prices", False), ("prices-preemptive", True))


@bound_method(
    key="prices",
    title="Price bound",
    source="dual of the time-indexed LP; column generation over prices on a grid",
    units=("rounds", "seconds"),
    cost=lambda workload, memory: min(2 * SECONDS, 0.1 + 2e-3 * len(workload)),
)
def prices(workload, memory, progress, time_limit, clock, replicas):
    if clock.is_rounds:
        return _in_rounds(workload, memory, progress, time_limit)
    return _in_seconds(workload, memory, progress, time_limit, clock, replicas)


def _in_rounds(workload, memory, progress, time_limit) -> list[Bound]:
    seconds = SECONDS if time_limit is None else time_limit / 2
    run = look_ahead(workload, memory, workload.ascending(workload.volume), skip=5)
    fluid = find_method("fluid").bounds(workload, memory)
    found = []
    for number, (name, never_rising) in enumerate(ROWS):
        start = fluid[-1 if never_rising else 0]
        steps = ascend(workload, memory, run, start.prices, never_rising)

        def told(share: float, value: float, number=number) -> None:
            progress((number + share) / len(ROWS), f"certified bound {value:,.0f} rounds")

        found.append(_climb(name, start, steps, seconds, told))
    return found


def _in_seconds(workload, memory, progress, time_limit, clock, replicas) -> list[Bound]:
    seconds = SECONDS_OF_ASCENT if time_limit is None else time_limit / 2
    found = []
    for number, (name, every_run) in enumerate(ROWS):

        def told(share: float, value: float, number=number) -> None:
            progress((number + share) / len(ROWS), f"certified bound {value:,.0f} s")

        search = Search.of(workload, memory, clock, replicas, every_run)
        found.append(_row(name, search, every_run, search.rises(seconds, told)))
    kept, every = found
    if kept.value < every.value:  # stopped early: what holds for every run holds for these
        kept = replace(kept, value=every.value, method=every.method, history=every.history)
    return [kept, every]


def _row(name: str, search: Search, every_run: bool, steps) -> Bound:
    """The bound at the last prices that the ascent came to, or at none if that is no less."""
    last = steps[-1][1]
    value, alone = search.judged(last.numbers), search.judged(0.0 * last.numbers)
    history = tuple((taken, rise.best.value) for taken, rise in steps)
    if value > alone:
        how = (
            f"dual function at {len(last.numbers)} prices of machine time that never rise, on "
            f"{last.numbers.shape[1]} knots, rounding allowed for; the ascent stopped within "
            f"{100 * (last.ceiling / last.best.value - 1):.2g} % of the best on these knots"
        )
    else:
        value, how = (
            alone,
            (
                "every request alone on its machine: at this load no prices say more, and the "
                "bound is weak"
            ),
        )
    return Bound(name, value, True, every_run, how, None, history, covers_cut_prompts=every_run)


def _climb(name: str, start: Bound, steps, seconds: float, told) -> Bound:
    """The best bound met within the time, and the history of its value."""
    begun = time.monotonic()
    history = [(0.0, start.value)]
    last: Step | None = None
    exhausted_at = start.value
    for last in steps:
        taken = time.monotonic() - begun
        history.append((taken, last.dual.value))
        told(min(1.0, taken / seconds), last.dual.value)
        if last.is_exhausted:
            if last.dual.value - exhausted_at <= ENOUGH * last.dual.value:
                break
            exhausted_at = last.dual.value
        if taken > seconds:
            break
    dual = last.dual
    how = (
        f"dual function, in exact arithmetic, at prices on {last.knots} knots; no prices on "
        f"these reach more than {100 * (last.ceiling / dual.value - 1):.3f} % above"
    )
    return Bound(
        name, dual.value, True, dual.covers_preemption, how, dual.prices, history=tuple(history)
    )
