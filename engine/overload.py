"""Is this load one that the server can carry? A verdict on a run, with its evidence (DESIGN 4).

A finite run of an overloaded system has finite averages, which mean nothing: they
grow with the horizon. What tells is the number of requests in the system while
requests still arrive: its average late in that span against its average in the
middle. Their difference, per arrival in between, is the share of the arrivals that
the server did not keep up with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.metrics import memory_curve
from engine.simulate.run import Run

MIDDLE = (0.4, 0.6)  # of the span in which requests arrive
LATE = (0.8, 1.0)
OVERLOADED = 0.05  # of the arrivals are left over
SATURATED = 0.02
FULL = 0.9  # of M held on average

FEW = 50  # requests: below, there is no telling


@dataclass(frozen=True)
class Verdict:
    """How a run stands.

    Attributes
    ----------
    kind : `backlog` (all arrive at once), `too short` to tell, `stable`, `saturated`
        or `overloaded`
    middle, late : requests in the system on average, in the middle of the span and late in it
    left_over : share of the arrivals in between that the server did not keep up with
    """

    kind: str
    middle: float = 0.0
    late: float = 0.0
    left_over: float = 0.0

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
        evidence = (
            f"{wording.number(self.middle)} requests in the system in the middle of the arrivals, "
            f"{wording.number(self.late)} towards their end"
        )
        if self.kind == "overloaded":
            return f"Overloaded: {evidence}. Its latencies grow with the horizon."
        return f"{self.kind.capitalize()}: {evidence}."


def verdict(run: Run) -> Verdict:
    """Judge one run by the drift of its requests in the system and by how full M is."""
    arrival = np.sort(run.workload.arrival)
    first, span = arrival[0], arrival[-1] - arrival[0]
    if span == 0:
        return Verdict("backlog")
    if len(arrival) < FEW:
        return Verdict("too short")
    middle, late = (
        _in_system(run, first + begin * span, first + end * span) for begin, end in (MIDDLE, LATE)
    )
    between = len(arrival) * (sum(LATE) - sum(MIDDLE)) / 2
    left_over = (late - middle) / between
    if left_over > OVERLOADED:
        kind = "overloaded"
    elif left_over > SATURATED or memory_curve(run).mean > FULL * run.memory:
        kind = "saturated"
    else:
        kind = "stable"
    return Verdict(kind, middle, late, left_over)


def _in_system(run: Run, begin: float, end: float) -> float:
    """Requests that have arrived and not finished, averaged over [begin, end]."""
    inside = np.minimum(run.finish, end) - np.maximum(run.workload.arrival, begin)
    return float(np.maximum(inside, 0).sum() / (end - begin))
