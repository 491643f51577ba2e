"""Bounds that can be checked by anybody: the prices, written down, and a checker of its own.

A certificate holds, for each bound, the price of a token of memory in every round. The
checker shares no code with engine/dual: it tries every start of every request in
floating point, and those that could be cheapest again in exact fractions. What it takes
on trust is the theorem (engine/dual/__init__.py), the trace and Python's arithmetic.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from engine.bound import Bound
from engine.errors import InputError
from engine.progress import silent
from engine.workload import Workload, set_aside

FORMAT = "headroom certificate 1"
FIELDS = {"format", "workload", "requests", "memory", "bounds"}
NEAR = 1e-9  # relative: floats cannot tell starts apart that are nearer


@dataclass(frozen=True)
class Finding:
    """What the checker found for one bound.

    Attributes
    ----------
    bound, claimed : the row's name and the value it claims, rounds
    proved : the exact dual function at the prices, rounded down
    covers_preemption : whether the prices never rise, so that it holds for every run
    holds : the claims are not more than what is proved
    """

    bound: str
    claimed: float
    proved: float
    covers_preemption: bool
    holds: bool


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
                    "prices": bound.prices.tolist(),
                }
                for bound in priced
            ],
        }
    )


def check(text: str, workload: Workload, progress: Callable = silent) -> list[Finding]:
    """Check every bound of a certificate against the requests it speaks of.

    Raises
    ------
    InputError
        When the text is no certificate, or is one for other requests.
    """
    record = _read(text)
    if record["workload"] != workload.digest:
        raise InputError(
            f"this certificate is for {record['requests']} other requests: give the trace, and "
            "the seconds a round, that it was made from"
        )
    fitting, _ = set_aside(workload, record["memory"])
    return [
        _check_bound(row, fitting, record["memory"], progress, number / len(record["bounds"]))
        for number, row in enumerate(record["bounds"])
    ]


def _read(text: str) -> dict:
    try:
        record = json.loads(text)
    except ValueError as problem:
        raise InputError(f"this is no certificate: {problem}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT or FIELDS - set(record):
        raise InputError(f"this is no certificate: it must be JSON with format {FORMAT!r}")
    return record


def _check_bound(row: dict, workload: Workload, memory: int, progress, done: float) -> Finding:
    prices = np.array(row["prices"], np.float64)
    if not (np.isfinite(prices) & (prices >= 0)).all():
        raise InputError(f"the prices of {row['bound']} are not finite numbers from 0 on")
    first = min(ceil(a) for a in workload.arrival.tolist())
    prices[: first + 1] = 0.0
    exact = _dual_function(workload, memory, prices, progress, done)
    proved = float(exact)
    if Fraction(proved) > exact:
        proved = float(np.nextafter(proved, -np.inf))
    never_rise = bool((np.diff(prices[first + 1 :]) <= 0).all())
    sound = row["value"] <= proved and (never_rise or not row["covers_preemption"])
    return Finding(row["bound"], row["value"], proved, never_rise, sound)


def _dual_function(workload: Workload, memory: int, prices, progress, done: float) -> Fraction:
    """L at the prices: the least charges of all requests less M times all prices."""
    rounds = np.arange(len(prices))
    upto, weighted = np.cumsum(prices), np.cumsum(prices * rounds)
    exact_price = [Fraction(price) for price in prices.tolist()]
    exact_upto, exact_weighted = _exact_sums(exact_price)
    total = -memory * exact_upto[-1]
    last = len(prices) - 1
    columns = (workload.arrival.tolist(), workload.prompt.tolist(), workload.output.tolist())
    for number, (a, s, o) in enumerate(zip(*columns, strict=True)):
        begin = ceil(a)
        k = np.arange(begin, max(begin, last) + 1)
        lo, hi = np.minimum(k, last), np.minimum(k + o, last)
        charge = k + o + (s - k) * (upto[hi] - upto[lo]) + weighted[hi] - weighted[lo]
        scale = abs(s * upto[-1]) + last * upto[-1] + weighted[-1] + last + o
        close = k[charge <= charge.min() + NEAR * scale]
        total += min(
            _exact_charge(exact_upto, exact_weighted, start, s, o, last) for start in close.tolist()
        ) - Fraction(a)
        if number % 1000 == 0:
            progress(done + (1 - done) * number / len(workload))
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
