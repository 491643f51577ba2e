"""The value of the dual function at given prices, rounded down only at the very end."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine.proof.dual.cheapest import cheapest_starts
from engine.proof.dual.units import in_units
from engine.simulate.schedule import visible_rounds
from engine.workload import Workload


@dataclass(frozen=True, eq=False)
class Dual:
    """L at prices of memory: a lower bound on the total latency.

    Attributes
    ----------
    value : L, rounds: not above its exact value at `prices`, and below it by less than
        n * 1e-12 rounds and one rounding of a float64 (whole arrivals: by that rounding only)
    prices : (T,) float64, the price by round at which L was taken (those given, cut to units)
    covers_preemption : prices never rise, so that L bounds every run; otherwise only
        runs in which no request gave up its KV cache
    start : (n,) int64, the cheapest start of each request, a round
    least : (n,) float64, what it costs: latency and memory, rounds
    """

    value: float
    prices: np.ndarray
    covers_preemption: bool
    start: np.ndarray
    least: np.ndarray


def evaluate(workload: Workload, memory: int, prices: np.ndarray) -> Dual:
    """L(lam) for any prices lam >= 0 by round; those of later rounds are 0.

    prices[t] is the price of a token at the end of round t. Prices up to the first
    decision min ceil(a) are ignored: nothing runs in those rounds.

    Raises
    ------
    InputError
        When a price is negative or not finite.
    """
    priced = in_units(workload, prices)
    least, start = cheapest_starts(priced, workload)
    units = _total(least) - int(memory) * _total(priced.units)
    before_visible = visible_rounds(workload.arrival) - workload.arrival
    # Summing n numbers >= 0 in pairs errs by less than this share.
    surely_before = float(before_visible.sum()) * (1 - 1e-12)
    exact = Fraction(units, 1 << priced.bits) + _total(workload.output) + Fraction(surely_before)
    return Dual(
        rounded_down(exact),
        priced.prices,
        priced.never_rise,
        start + priced.first,
        np.ldexp(least, -priced.bits) + workload.output + before_visible,
    )


def _total(numbers: np.ndarray) -> int:
    """The sum of int64 numbers >= 0, which need not fit in int64."""
    return (int((numbers >> 32).sum()) << 32) + int((numbers & 0xFFFFFFFF).sum())


def rounded_down(exact: Fraction) -> float:
    """The largest float64 that is not above."""
    near = float(exact)
    return near if near <= exact else float(np.nextafter(near, -np.inf))
