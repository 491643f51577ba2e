"""Less of a trace, or its ties spread: a window, a sample, jitter. Counts stay true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.errors import InputError
from engine.fields import number_in
from engine.traces.log import in_order
from engine.traces.requests import TraceRequests


def window(requests: TraceRequests, first: float, last: float) -> TraceRequests:
    """Those that arrive from `first` up to but not at `last`, in seconds; their clock restarts.

    Raises
    ------
    InputError
        When none does.
    """
    if not first < last:
        raise InputError(f"the window must end after it begins, got {first:g}:{last:g}")
    inside = (requests.seconds >= first) & (requests.seconds < last)
    reason = f"outside the window {first:g}:{last:g}{_unit(requests)}"
    return _restarted(_keep(requests, inside, reason))


def sample(requests: TraceRequests, share: float, seed: int = 0) -> TraceRequests:
    """Each kept with this probability, by one draw of its own.

    A Poisson stream stays one, at a share of its rate.
    """
    share = number_in("the share of a sample", share, 0, 1)
    if share == 1:
        return requests
    kept = _keep(
        requests, _draws(seed, "sample", requests) < share, f"not in the sample of {share:g}"
    )
    return replace(kept, notes=(*kept.notes, f"the sample has {share:g} of the trace's load, too"))


def jitter(requests: TraceRequests, seed: int = 0) -> TraceRequests:
    """Arrivals spread evenly over the bin that each was rounded down to.

    Bins are as wide as the smallest gap between two different arrivals, so no
    request passes one of a later bin; within a bin the order stays, because the
    draws are sorted.
    """
    gaps = np.diff(np.unique(requests.seconds))
    if len(gaps) == 0:
        raise InputError("there is nothing to jitter within: all arrival times are the same")
    requests = in_order(requests)
    note = f"arrivals are spread at random within bins of {gaps.min():.4g}{_unit(requests)}"
    return replace(
        requests,
        seconds=np.sort(requests.seconds + gaps.min() * _draws(seed, "jitter", requests)),
        notes=(*requests.notes, note),
    )


def _unit(requests: TraceRequests) -> str:
    return " s" if requests.unit_known else ""


def _draws(seed: int, purpose: str, requests: TraceRequests) -> np.ndarray:
    """(n,) uniform draws; those for one purpose tell nothing of those for another."""
    return np.random.default_rng([seed, *purpose.encode()]).random(len(requests))


def _keep(requests: TraceRequests, which: np.ndarray, reason: str) -> TraceRequests:
    """The requests in a mask; the others are counted under the reason."""
    if not which.any():
        raise InputError(f"no request is left: all {len(requests):,} are {reason}")
    left_out = int((~which).sum())
    aside = {**requests.set_aside, reason: left_out} if left_out else requests.set_aside
    return replace(requests.take(which), set_aside=aside)


def _restarted(requests: TraceRequests) -> TraceRequests:
    first = requests.seconds.min()
    began = None if requests.began is None else requests.began + float(first)
    return replace(requests, seconds=requests.seconds - first, began=began)
