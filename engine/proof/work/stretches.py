"""Requests in parts that busy stretches tell apart, so that quiet time costs no price.

Prices never rise, so a burst in the middle of a day would have to pay for the quiet before
it. But the bound of some of the requests holds in any company (engine.proof.work.dual): the
bounds of parts add up, whichever the parts are. They are cut where a good schedule is idle,
before and after the stretches in which it makes requests wait the longest.
"""

from __future__ import annotations

import numpy as np

MOST = 24  # stretches that are parts of their own
LEAST = 0.01  # of all waiting: less is not worth a part


def parts(arrival: np.ndarray, completion: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """(n,) int64: the part of each request, 0, 1, .. in order of arrival; ties stay together.

    Parameters
    ----------
    arrival, completion : (n,) of a good schedule, seconds
    alone : (n,) the least latency of each, seconds
    """
    order = np.argsort(arrival, kind="stable")
    busy_until = np.maximum.accumulate(completion[order])
    begins = np.append(False, arrival[order][1:] > busy_until[:-1])
    stretch = np.cumsum(begins)
    waited = np.bincount(stretch, np.maximum(0.0, completion - arrival - alone)[order])
    longest = np.argsort(-waited, kind="stable")[:MOST]
    chosen = longest[waited[longest] > LEAST * waited.sum()]
    cut = np.zeros(len(waited) + 1, np.int64)
    cut[chosen] = cut[chosen + 1] = 1
    cut[0] = 0
    part = np.empty(len(order), np.int64)
    part[order] = np.cumsum(cut)[stretch]
    return part
