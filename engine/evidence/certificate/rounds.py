"""A bound in rounds, proved by the price of a token of memory in every round.

There is a list of prices for every busy period. Each period speaks of the requests that
arrive from its begin to the next's, and what is proved for each adds up
(engine/proof/busy_periods.py). The checker shares no code with engine/proof/dual: it tries every
start of every request in floating point, and those that could be cheapest again in exact
fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from engine.bound import Bound
from engine.errors import InputError
from engine.evidence.certificate.finding import Finding
from engine.evidence.certificate.row import Row
from engine.fields import build, hold_number, list_in, number_in
from engine.machine.clock import Clock
from engine.workload import MAX_ARRIVAL, Workload

NEAR = 1e-9  # relative: floats cannot tell starts apart that are nearer
MAX_PRICE = 1e12  # rounds: floats can hold the sums of such prices; none so dear is of use


@dataclass(frozen=True)
class _Period:
    """A busy period as it is written: InputError where a field is not what it must be."""

    begin: int
    prices: list[float]

    def __post_init__(self) -> None:
        hold_number(self, "begin", 0, MAX_ARRIVAL, whole=True)
        for number, price in enumerate(list_in("prices", self.prices)):
            number_in(f"price {number}", price, 0, MAX_PRICE)


@dataclass(frozen=True)
class MemoryRow(Row):
    """A bound and its prices by period."""

    periods: list[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        records = list_in("periods", self.periods)
        periods = [build(_Period, r, f"period {number}") for number, r in enumerate(records)]
        begins = [period.begin for period in periods]
        if not periods or sorted(set(begins)) != begins:
            raise InputError("periods must be one or more, each beginning after the one before")
        object.__setattr__(self, "periods", periods)


def written(bound: Bound) -> dict:
    """The proof of a bound, as a record."""
    return {
        "periods": [
            {"begin": part.begin, "prices": part.by_round.tolist()} for part in bound.prices or ()
        ]
    }


def check_row(row: MemoryRow, workload: Workload, memory: int, clock: Clock) -> Finding:
    """Find out what the prices prove."""
    exact, never_rise = Fraction(0), True
    begins = np.array([period.begin for period in row.periods])
    period_of = np.searchsorted(begins, workload.arrival, side="right") - 1
    if period_of.min() < 0:
        raise InputError(f"{row.bound}: requests arrive before the first period begins")
    for number, period in enumerate(row.periods):
        part = workload.take(np.flatnonzero(period_of == number))
        arrival = part.arrival - period.begin  # exact: whole rounds, not above any of them
        first = min((ceil(a) for a in arrival.tolist()), default=0)
        prices = np.append(np.array(period.prices, np.float64), 0.0)
        prices[: first + 1] = 0.0
        columns = list(
            zip(arrival.tolist(), part.prompt.tolist(), part.output.tolist(), strict=True)
        )
        exact += _dual_function(columns, memory * row.replicas, prices)
        never_rise &= bool((np.diff(prices[first + 1 :]) <= 0).all())
    proved = float(exact)
    if Fraction(proved) > exact:
        proved = float(np.nextafter(proved, -np.inf))
    sound = row.value <= proved and (never_rise or not row.covers_preemption)
    return Finding(row.bound, row.value, proved, never_rise, sound)


def _dual_function(requests, memory: int, prices: np.ndarray) -> Fraction:
    """L at the prices: the least charges of all (a, s, o) less M times all prices."""
    rounds = np.arange(len(prices))
    upto, weighted = np.cumsum(prices), np.cumsum(prices * rounds)
    exact_price = [Fraction(price) for price in prices.tolist()]
    exact_upto, exact_weighted = _exact_sums(exact_price)
    total = -memory * exact_upto[-1]
    last = len(prices) - 1
    for a, s, o in requests:
        begin = ceil(a)
        k = np.arange(begin, max(begin, last) + 1)
        lo, hi = np.minimum(k, last), np.minimum(k + o, last)
        charge = k + o + (s - k) * (upto[hi] - upto[lo]) + weighted[hi] - weighted[lo]
        scale = abs(s * upto[-1]) + last * upto[-1] + weighted[-1] + last + o
        close = k[charge <= charge.min() + NEAR * scale]
        total += min(
            _exact_charge(exact_upto, exact_weighted, start, s, o, last) for start in close.tolist()
        ) - Fraction(a)
    return total


def _exact_sums(price: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    upto, weighted = [Fraction(0)] * len(price), [Fraction(0)] * len(price)
    for t in range(1, len(price)):
        upto[t] = upto[t - 1] + price[t]
        weighted[t] = weighted[t - 1] + t * price[t]
    return upto, weighted


def _exact_charge(upto, weighted, k: int, s: int, o: int, last: int) -> Fraction:
    lo, hi = min(k, last), min(k + o, last)
    return k + o + (s - k) * (upto[hi] - upto[lo]) + weighted[hi] - weighted[lo]
