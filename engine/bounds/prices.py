"""The price bound: the LP's value from prices on a grid, at sizes where no LP can be written."""

from __future__ import annotations

import time
from dataclasses import replace

from engine.ascent import Step, ascend
from engine.bound import Bound, bound_method, find_method
from engine.simulate.look_ahead import look_ahead

SECONDS = 2.0  # for each of the two rows
ENOUGH = 1e-4  # a finer grid that gained less is the last


@bound_method(
    key="prices",
    title="Price bound",
    source="dual of the time-indexed LP; column generation over prices on a grid",
    cost=lambda workload, memory: min(2 * SECONDS, 0.1 + 2e-3 * len(workload)),
)
def prices(workload, memory, progress, time_limit):
    seconds = SECONDS if time_limit is None else time_limit / 2
    run = look_ahead(workload, memory, workload.ascending(workload.volume), skip=5)
    fluid = find_method("fluid").bounds(workload, memory)
    rows = (("prices", fluid[0], False), ("prices-preemptive", fluid[-1], True))
    found = []
    for number, (name, start, never_rising) in enumerate(rows):
        steps = ascend(workload, memory, run, start.prices, never_rising)

        def told(share: float, value: float, number=number) -> None:
            progress((number + share) / len(rows), f"certified bound {value:,.0f} rounds")

        found.append(_climb(name, start, steps, seconds, told))
    return found


def _climb(name: str, start: Bound, steps, seconds: float, told) -> Bound:
    """The best bound met within the time, and the history of its value."""
    begun = time.monotonic()
    history = [(0.0, start.value)]
    last: Step | None = None
    exhausted_at = start.value
    for last in steps:
        taken = time.monotonic() - begun
        history.append((taken, last.dual.value))
        told(min(1.0, taken / seconds) if seconds > 0 else 1.0, last.dual.value)
        if last.is_exhausted:
            if last.dual.value - exhausted_at <= ENOUGH * last.dual.value:
                break
            exhausted_at = last.dual.value
        if taken > seconds:
            break
    if last is None:  # the solver gave up at once
        return replace(start, bound=name, history=tuple(history))
    dual = last.dual
    how = (
        f"dual function, in exact arithmetic, at prices on {last.knots} knots; no prices on "
        f"these reach more than {100 * (last.ceiling / dual.value - 1):.3f} % above"
    )
    return Bound(
        name, dual.value, True, dual.covers_preemption, how, dual.prices, history=tuple(history)
    )
