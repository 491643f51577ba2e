"""Which margin to set: the smallest that is as good as the best, as far as the draws can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.uncertainty.pooled import Pooled, band


@dataclass(frozen=True)
class Advice:
    """What a margin does for a policy.

    Attributes
    ----------
    label : the policy
    margin : the share of M to leave free
    latency, without : mean latency with it and without one, clock units
    preemptions, preemptions_without : on average over the draws
    """

    label: str
    margin: float
    latency: float
    without: float
    preemptions: float
    preemptions_without: float


def advise(pooled: Pooled, label: str) -> Advice | None:
    """The recommended margin of one policy; None where its runs never end.

    Values are compared draw by draw with the one of least mean latency: the smallest whose
    95 % interval of the difference holds 0 is recommended, with a single draw the best.
    """
    latency = pooled.samples(label, "latency")
    mean = latency.mean(axis=0)
    if np.isnan(mean).all():
        return None
    best = int(np.nanargmin(mean))
    behind = band(latency - latency[:, [best]])
    as_good = np.flatnonzero(behind.low <= 0) if len(latency) > 1 else [best]
    chosen = int(min(as_good[0], best))
    preemptions = pooled.samples(label, "preemptions").mean(axis=0)
    return Advice(
        label,
        float(pooled.values[chosen]),
        float(mean[chosen]),
        float(mean[0]),
        float(preemptions[chosen]),
        float(preemptions[0]),
    )
