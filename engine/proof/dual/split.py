"""Where a run loses against a bound: in its order, in idle memory, by giving up cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.compiled import kernel
from engine.proof.dual.function import Dual, evaluate
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule


@dataclass(frozen=True, eq=False)
class GapSplit:
    """Total latency minus L, in three parts (proof in engine/proof/dual).

    Attributes
    ----------
    dual : L and its prices
    reduced_cost : (n,) float64 >= 0, rounds: what each request's start cost above its cheapest
    idle : rounds >= 0, the price of memory that stood empty
    given_up : rounds, the price of memory held to no avail: 0 for a run that kept its KV
        cache; never negative where prices never rise
    """

    dual: Dual
    reduced_cost: np.ndarray
    idle: float
    given_up: float

    @property
    def ordering(self) -> float:
        """Rounds >= 0: the sum of the reduced costs."""
        return float(self.reduced_cost.sum())


@kernel
def _charges(prices, begin, end, held):
    """(k,) float64: the price of memory that grows from `held` over rounds begin+1 .. end."""
    charge = np.zeros(begin.size)
    for k in range(begin.size):
        for at in range(begin[k] + 1, min(end[k] + 1, prices.size)):
            charge[k] += prices[at] * (held[k] + at - begin[k])
    return charge


def gap_split(run: Run | Schedule, prices: np.ndarray) -> GapSplit:
    """Split a run's total latency minus L(prices) into its parts.

    Parameters
    ----------
    prices : (T,) float64 >= 0, by round, as for `evaluate`
    """
    workload, residencies = run.workload, run.residencies
    dual = evaluate(workload, run.memory, prices)
    held = _charges(dual.prices, residencies.begin, residencies.end, residencies.held).sum()
    straight = _charges(dual.prices, run.finish - workload.output, run.finish, workload.prompt)
    return GapSplit(
        dual,
        run.latency + straight - dual.least,
        float(run.memory * dual.prices.sum() - held),
        float(held - straight.sum()),
    )
