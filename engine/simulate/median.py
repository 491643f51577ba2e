"""The median of a set that requests join and leave: a tree of counts over ranks (Fenwick)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel


class Median(NamedTuple):
    """The values of the requests in the set.

    Attributes
    ----------
    values : (n,) int64, ascending
    rank : (n,) int64, where each request's value is among them
    counts : (n + 1,) int64, entry r counts the members of the r & -r ranks up to r - 1
    """

    values: np.ndarray
    rank: np.ndarray
    counts: np.ndarray


def new_median(values: np.ndarray) -> Median:
    """The empty set; `values` (n,) int64 of all who may join it."""
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    return Median(values[order], rank, np.zeros(len(values) + 1, np.int64))


@kernel
def count_in(median, i, by):
    """Request i joins (by = 1) or leaves (by = -1)."""
    counts = median.counts
    at = median.rank[i] + 1
    while at < counts.size:
        counts[at] += by
        at += at & -at


@kernel
def _value_of(median, place):
    """The member value at `place`, counted from 0 in ascending order."""
    counts, at = median.counts, 0
    step = 1
    while 2 * step < counts.size:
        step *= 2
    while step > 0:
        if at + step < counts.size and counts[at + step] <= place:
            at += step
            place -= counts[at]
        step //= 2
    return median.values[at]


@kernel
def twice_the_median(median, members):
    """The sum of the two middle values of a set of `members`, twice the middle one if odd."""
    return _value_of(median, (members - 1) // 2) + _value_of(median, members // 2)
