"""The fluid bound: the dual function at the prices of a fluid (engine/proof/fluid.py)."""

from __future__ import annotations

import numpy as np

from engine.bound import Bound, Prices
from engine.bound_method import BoundWords, bound_method
from engine.progress import silent
from engine.proof.dual import Dual
from engine.proof.fluid import MAX_ROUNDS, all_at_once, fluid_duals, rounds_at_most
from engine.simulate.schedule import visible_rounds

SECONDS_A_ROUND, SECONDS_A_ROUND_AT_ONCE = 2e-6, 1e-7


def _bound(name: str, dual: Dual, served: str) -> Bound:
    method = f"dual function, in exact arithmetic, at the prices of a fluid {served}"
    prices = (Prices(0, dual.prices),)
    return Bound(name, dual.value, True, dual.covers_preemption, method, prices)


def _cost(workload, memory: int) -> float:
    n, rounds = len(workload), rounds_at_most(workload, memory)
    if rounds > MAX_ROUNDS:
        return np.inf
    if all_at_once(visible_rounds(workload.arrival)):
        return 2e-3 + 2e-6 * n + SECONDS_A_ROUND_AT_ONCE * rounds
    return 5e-3 + 4e-8 * n**1.5 + SECONDS_A_ROUND * rounds


@bound_method(
    key="fluid",
    title="Fluid prices",
    source="dual of the time-indexed LP; prices of the preemptive fluid, least volume first",
    cost=_cost,
    words=BoundWords(
        what="Pours the requests through memory like water, the smallest first, and reads off "
        "what a token of memory is worth in each round.",
        why="The water only suggests the prices; nothing about it has to be believed.",
    ),
)
def fluid(workload, memory, progress=silent):
    duals = fluid_duals(workload, memory, progress)
    if len(duals) == 1:
        return [_bound("fluid", duals[0], "served by volume")]
    kept, every = duals
    return [
        _bound("fluid", kept, "served by volume as requests arrive"),
        _bound("fluid-preemptive", every, "served by volume, raised so that they never rise"),
    ]
