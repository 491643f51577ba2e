"""Is this load one that the server can carry? A verdict on a run, with its evidence (DESIGN 4).

A finite run of an overloaded system has finite averages, which mean nothing: they
grow with the horizon. Two numbers tell:

- the *load*: the requests' volumes, token-rounds, over the M token-rounds a round that
  the server has until the last of them arrives. Above 1, no policy can keep up;
- the *drift*: how much volume is in the system late in the arrivals, beyond what was
  there in the middle, as a share of the volume that arrived in between. A policy that
  leaves memory unused falls behind at a load below 1. Requests are weighed by volume
  because policies that favour small ones hide an overload in a few large ones.

The drift of a stable system is not 0 but noise; two standard deviations of the volume that
came in between are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.simulate.run import Run

MIDDLE = (0.4, 0.6)  # of the span in which requests arrive
LATE = (0.8, 1.0)
FALLS_BEHIND = 0.03  # drift
NEARLY_FULL = 0.9  # load
FEW = 100  # requests: below, there is no telling


@dataclass(frozen=True)
class Verdict:
    """How a run stands.

    Attributes
    ----------
    kind : `backlog` (all arrive at once), `too short` to tell, `stable`, `saturated`
        or `overloaded`
    load : volume of the requests over the memory there is for it while they arrive
    drift : share of the volume arriving from the middle on that was left over, beyond noise
    """

    kind: str
    load: float = 0.0
    drift: float = 0.0

    @property
    def is_steady(self) -> bool:
        """Whether averages over this run describe more than this run."""
        return self.kind in ("stable", "saturated")

    def in_words(self) -> str:
        """One sentence on what the latencies of this run mean."""
        if self.kind == "backlog":
            return "All requests arrive at once: latency grows with their number."
        if self.kind == "too short":
            return "Too few requests to tell whether this load can be carried."
        load = f"the requests need {wording.percent(self.load)} of the memory while they arrive"
        if self.kind == "overloaded" and self.load > 1:
            return f"Overloaded: {load}. No policy carries that; latencies grow with the horizon."
        if self.kind == "overloaded":
            return (
                f"Overloaded: {load}, but this policy leaves {wording.percent(self.drift)} of "
                "them waiting for good. Its latencies grow with the horizon."
            )
        return f"{self.kind.capitalize()}: {load}."


def verdict(run: Run) -> Verdict:
    """Judge one run by its load and by the drift of the volume in the system."""
    workload = run.workload
    arrival = workload.arrival
    first, span = arrival.min(), float(np.ptp(arrival))
    if span == 0:
        return Verdict("backlog")
    if len(arrival) < FEW:
        return Verdict("too short")
    load = float(workload.volume.sum() / (run.memory * span))
    drift = _drift(run, first, span)
    if load > 1 or drift > FALLS_BEHIND:
        kind = "overloaded"
    else:
        kind = "saturated" if load > NEARLY_FULL or drift > 0 else "stable"
    return Verdict(kind, load, drift)


def _drift(run: Run, first: float, span: float) -> float:
    middle, late = (
        _volume_in_system(run, first + begin * span, first + end * span)
        for begin, end in (MIDDLE, LATE)
    )
    share = (sum(LATE) - sum(MIDDLE)) / 2
    came = run.workload.volume.astype(float) * share
    noise = 2 * np.sqrt((came * run.workload.volume).sum())
    return float(max(0.0, late - middle - noise) / came.sum())


def _volume_in_system(run: Run, begin: float, end: float) -> float:
    """Volume of the requests that have arrived and not finished, averaged over [begin, end]."""
    inside = np.minimum(run.finish, end) - np.maximum(run.workload.arrival, begin)
    return float((np.maximum(inside, 0) * run.workload.volume).sum() / (end - begin))
