"""The error at which a predictor stops paying.

A policy that uses predictions is compared, draw by draw, with the best policy that uses no
lengths at all. Its latency minus the other's crosses zero at the break-even error: the mean
of the differences does so at `at`, the ends of their 95 % interval at `earliest` and
`latest`. Between two values of the axis it is taken to be straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    means = {
        label: float(pooled.band(label, "latency").mean[0])
        for label, choice in pooled.choices.items()
        if not choice.policy.uses_lengths
    }
    ending = {label: mean for label, mean in means.items() if not np.isnan(mean)}
    return min(ending, key=lambda label: ending[label]) if ending else None


def break_evens(pooled: Pooled) -> list[BreakEven]:
    """One for every policy that uses lengths, the one that pays longest first."""
    rival = rival_of(pooled)
    if rival is None:
        return []
    every = [
        _break_even(pooled, label, rival)
        for label, choice in pooled.choices.items()
        if choice.policy.uses_lengths
    ]
    return sorted(every, key=lambda break_even: -break_even.at)


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
