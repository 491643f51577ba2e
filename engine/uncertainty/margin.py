"""Which margin to set: the smallest that comes within 1 % of the lowest mean latency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.uncertainty.pooled import Pooled, band

WORTH = 0.01  # of the mean latency: what is less is not worth memory


@dataclass(frozen=True)
class Advice:
    """What a margin does for a policy.

    Attributes
    ----------
    label : the policy
    margin : the share of M to leave free
    latency : mean latency with it, clock units
    saved, half : the share by which it is below that without one, and half the width of its
        95 % interval over the draws; 0 for a single draw
    preemptions, preemptions_without : on average over the draws
    """

    label: str
    margin: float
    latency: float
    saved: float
    half: float
    preemptions: float
    preemptions_without: float


def advise(pooled: Pooled, label: str) -> Advice | None:
    """The recommended margin of one policy; None where its runs never end.

    What it saves is compared draw by draw, so that the luck of a draw cancels out.
    """
    latency = pooled.samples(label, "latency")
    mean = latency.mean(axis=0)
    if np.isnan(mean).all():
        return None
    near = np.flatnonzero(mean <= np.nanmin(mean) * (1 + WORTH))
    chosen = int(near[0])
    saved = band((latency[:, [0]] - latency[:, [chosen]]) / mean[0])
    preemptions = pooled.samples(label, "preemptions").mean(axis=0)
    return Advice(
        label,
        float(pooled.values[chosen]),
        float(mean[chosen]),
        float(saved.mean[0]),
        float(saved.half[0]),
        float(preemptions[chosen]),
        float(preemptions[0]),
    )
