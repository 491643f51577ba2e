"""Bounds that can be checked by anybody: the prices, written down, and a checker of its own.

A certificate holds, for each bound, the price of a token of memory in every round of every
busy period. Each period speaks of the requests that arrive from its begin to the next's, and
what is proved for each adds up (engine/busy_periods.py). The checker shares no code with
engine/dual: it tries every start of every request in floating point, and those that could be
cheapest again in exact fractions. What it takes on trust are the theorems
(engine/dual/__init__.py, engine/busy_periods.py), the trace and Python's arithmetic.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from engine.bound import MAX_REPLICAS, Bound
from engine.errors import InputError
from engine.fields import build, list_in, number_in
from engine.workload import MAX_ARRIVAL, Workload, check_memory, set_aside

FORMAT = "headroom certificate 2"
NEAR = 1e-9  # relative: floats cannot tell starts apart that are nearer
MAX_PRICE = 1e12  # rounds: floats can hold the sums of such prices; none so dear is of use
MAX_VALUE = 1e30  # rounds


@dataclass(frozen=True)
class Finding:
    """What the checker found for one bound.

    Attributes
    ----------
    bound, claimed : the row's name and the value it claims, rounds
    proved : the exact dual function at the prices, rounded down
    covers_preemption : whether the prices never rise within a period, so that it holds for
        every run
    holds : the claims are not more than what is proved
    """

    bound: str
    claimed: float
    proved: float
    covers_preemption: bool
    holds: bool


@dataclass(frozen=True)
class Checked:
    """A certificate that was checked.

    Attributes
    ----------
    memory : M, tokens
    requests, set_aside : how many requests it speaks of, and how many need more than M
    findings : one a bound
    """

    memory: int
    requests: int
    set_aside: int
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every bound does."""
        return all(finding.holds for finding in self.findings)


@dataclass(frozen=True)
class _Period:
    """A busy period as it is written: InputError where a field is not what it must be."""

    begin: int
    prices: list[float]

    def __post_init__(self) -> None:
        number_in("begin", self.begin, 0, MAX_ARRIVAL, whole=True)
        for number, price in enumerate(list_in("prices", self.prices)):
            number_in(f"price {number}", price, 0, MAX_PRICE)


@dataclass(frozen=True)
class _Row:
    """A bound as it is written."""

    bound: str
    value: float
    covers_preemption: bool
    replicas: int
    periods: list[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.bound, str):
            raise InputError(f"bound must be a name, got {self.bound!r}")
        if not isinstance(self.covers_preemption, bool):
            raise InputError(
                f"covers_preemption must be true or false, got {self.covers_preemption!r}"
            )
        number_in("value", self.value, -MAX_VALUE, MAX_VALUE)
        number_in("replicas", self.replicas, 1, MAX_REPLICAS, whole=True)
        records = list_in("periods", self.periods)
        periods = [build(_Period, r, f"period {number}") for number, r in enumerate(records)]
        begins = [period.begin for period in periods]
        if not periods or sorted(set(begins)) != begins:
            raise InputError("periods must be one or more, each beginning after the one before")
        object.__setattr__(self, "periods", periods)


@dataclass(frozen=True)
class _Certificate:
    """A certificate as it is written."""

    format: str
    workload: str
    requests: int
    memory: int
    bounds: list[Any]

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise InputError(f"format must be {FORMAT!r}, got {self.format!r}")
        number_in("requests", self.requests, 1, 2**63, whole=True)
        check_memory(self.memory)
        records = list_in("bounds", self.bounds)
        if not records:
            raise InputError("bounds must be one or more, there are none")
        rows = [build(_Row, record, f"bound {number}") for number, record in enumerate(records)]
        object.__setattr__(self, "bounds", rows)


def certificate(bounds: Sequence[Bound], workload: Workload, memory: int) -> str:
    """The certificate of those bounds that prices prove, as JSON text.

    Raises
    ------
    InputError
        When none of them has prices.
    """
    priced = [bound for bound in bounds if bound.prices is not None]
    if not priced:
        raise InputError("none of these bounds is proved by prices: ask for fluid, prices or lp")
    return json.dumps(
        {
            "format": FORMAT,
            "workload": workload.digest,
            "requests": len(workload),
            "memory": memory,
            "bounds": [
                {
                    "bound": bound.bound,
                    "value": bound.value,
                    "covers_preemption": bound.covers_preemption,
                    "replicas": bound.replicas,
                    "periods": [
                        {"begin": part.begin, "prices": part.by_round.tolist()}
                        for part in bound.prices
                    ],
                }
                for bound in priced
            ],
        }
    )


def check(text: str, workload: Workload) -> Checked:
    """Check every bound of a certificate against the requests it speaks of.

    Raises
    ------
    InputError
        When the text is no certificate, or is one for other requests.
    """
    record = _read(text)
    if record.workload != workload.digest or record.requests != len(workload):
        raise InputError(
            f"this certificate is for {record.requests:,} other requests: give the trace, and "
            "the seconds a round, that it was made from"
        )
    fitting, aside = set_aside(workload, record.memory)
    findings = tuple(_check_row(row, fitting, record.memory) for row in record.bounds)
    return Checked(record.memory, len(fitting), len(aside), findings)


def _read(text: str) -> _Certificate:
    try:
        record = json.loads(text, parse_constant=_no_number)
        return build(_Certificate, record, "this is no certificate")
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"this is no certificate: {problem}") from None


def _no_number(name: str):
    raise ValueError(f"{name} is no number")


def _check_row(row: _Row, workload: Workload, memory: int) -> Finding:
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
