"""The error at which a predictor stops paying.

A policy that uses predictions is compared, draw by draw, with the best policy that uses no
lengths at all. Its latency minus the other's crosses zero at the break-even error: the mean
of the differences does so at `at`, the ends of their 95 % interval at `earliest` and
`latest`. Between two values of the axis it is taken to be straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.policy import POLICIES
from engine.uncertainty.pooled import Pooled, band


@dataclass(frozen=True)
class BreakEven:
    """Where a policy stops paying; infinite where it does not within the axis.

    Attributes
    ----------
    label, rival : the policy, and the best one that uses no lengths
    at, earliest, latest : values of the axis
    """

    label: str
    rival: str
    at: float
    earliest: float
    latest: float


def rival_of(pooled: Pooled) -> str | None:
    """The best of the policies that use no lengths, if there is one."""
    blind = [label for label, key in pooled.policies.items() if not POLICIES[key].uses_lengths]
    known = {label: float(pooled.band(label, "latency").mean[0]) for label in blind}
    known = {label: mean for label, mean in known.items() if not np.isnan(mean)}
    return min(known, key=lambda label: known[label]) if known else None


def break_evens(pooled: Pooled) -> list[BreakEven]:
    """One for every policy that uses lengths, the one that pays longest first."""
    rival = rival_of(pooled)
    if rival is None:
        return []
    found = [
        _break_even(pooled, label, rival)
        for label, key in pooled.policies.items()
        if POLICIES[key].uses_lengths
    ]
    return sorted(found, key=lambda each: -each.at)


def _break_even(pooled: Pooled, label: str, rival: str) -> BreakEven:
    behind = band(pooled.samples(label, "latency") - pooled.samples(rival, "latency"))
    places = (
        first_crossing(pooled.values, line) for line in (behind.mean, behind.high, behind.low)
    )
    return BreakEven(label, rival, *places)


def first_crossing(values: np.ndarray, line: np.ndarray) -> float:
    """The first value at which a line through points is at 0 or above; infinite if none."""
    above = np.flatnonzero(line >= 0)
    if not len(above):
        return float("inf")
    k = int(above[0])
    if k == 0:
        return float(values[0])
    share = -line[k - 1] / (line[k] - line[k - 1])
    return float(values[k - 1] + share * (values[k] - values[k - 1]))
