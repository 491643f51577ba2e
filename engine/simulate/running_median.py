"""A changing set of requests, cut at its median.

Members at or below the median are in the low half, the others in the high half; with an
even number of members the median is the mean of the middle two. Counts over ranks in a
tree (Fenwick) find the median. When it moves, only members between the old and the new cut
change halves, and these are found by rank (engine/simulate/waiting.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import part
from engine.simulate.waiting import add_waiting, empty_waiting, remove_waiting


class RunningMedian(NamedTuple):
    """The set and its cut.

    Attributes
    ----------
    values : (n,) int64, ascending, of all who may join
    order, rank : (n,) int64, the request of each of these values, and the reverse
    counts : (n + 1,) int64, entry r counts the members of the r & -r ranks up to r - 1
    members : their ranks
    cut : (1,) int64, the first rank above the median
    high : (n,) bool, by request, whether a member is in the high half
    """

    values: np.ndarray
    order: np.ndarray
    rank: np.ndarray
    counts: np.ndarray
    members: np.ndarray
    cut: np.ndarray
    high: np.ndarray


def new_running_median(values: np.ndarray) -> RunningMedian:
    """The empty set; `values` (n,) int64 of all who may join it."""
    n = len(values)
    order = np.argsort(values, kind="stable")
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    counts, cut = np.zeros(n + 1, np.int64), np.zeros(1, np.int64)
    return RunningMedian(
        values[order], order, rank, counts, empty_waiting(n), cut, np.zeros(n, bool)
    )


@part
def _count(running_median, at, by):
    while at < running_median.counts.size:
        running_median.counts[at] += by
        at += at & -at


@part
def join_median(running_median, i):
    """Request i is a member, in the half where the present cut has it."""
    rank = running_median.rank[i]
    _count(running_median, rank + 1, 1)
    add_waiting(running_median.members, rank)
    running_median.high[i] = rank >= running_median.cut[0]


@part
def leave_median(running_median, i):
    """Request i is a member no longer; the cut stays."""
    _count(running_median, running_median.rank[i] + 1, -1)
    remove_waiting(running_median.members, running_median.rank[i])


@part
def _value_of(running_median, place):
    """The member value at `place`, counted from 0 in ascending order."""
    counts, at, step = running_median.counts, 0, 1
    while 2 * step < counts.size:
        step *= 2
    while step > 0:
        if at + step < counts.size and counts[at + step] <= place:
            at += step
            place -= counts[at]
        step //= 2
    return running_median.values[at]


@part
def move_cut(running_median, members):
    """Cut the `members` at their median; the first and the last rank that may have changed."""
    twice = _value_of(running_median, (members - 1) // 2) + _value_of(running_median, members // 2)
    old, new = (
        running_median.cut[0],
        np.searchsorted(running_median.values, twice // 2, side="right"),
    )
    running_median.cut[0] = new
    return min(old, new), max(old, new)
