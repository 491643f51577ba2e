"""Which policy is best where along an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.uncertainty.break_even import first_crossing
from engine.uncertainty.pooled import Pooled

SAME = 0.05  # how much better another has to be, so that luck does not swap them


@dataclass(frozen=True)
class Reign:
    """A part of the axis in which a policy has the lowest mean latency, up to `until`."""

    label: str
    until: float


def reigns(pooled: Pooled) -> list[Reign]:
    """The parts by ascending value; a policy reigns until another is better by 5 %.

    Between two values of the axis mean latencies are taken to be straight.
    """
    means = {label: pooled.band(label, "latency").mean for label in pooled.choices}
    means = {label: np.where(np.isnan(mean), np.inf, mean) for label, mean in means.items()}
    values = pooled.values
    best = min(means, key=lambda label: means[label][0])
    parts: list[Reign] = []
    for k in range(1, len(values)):
        better = min(means, key=lambda label: means[label][k])
        if means[better][k] < (1 - SAME) * means[best][k]:
            behind = means[best][k - 1 : k + 1] - means[better][k - 1 : k + 1]
            parts.append(Reign(best, first_crossing(values[k - 1 : k + 1], behind)))
            best = better
    return [*parts, Reign(best, float(values[-1]))]
