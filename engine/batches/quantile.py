"""All batches in linear time: fills by ascending output below sampled quantiles of size.

The candidates for a batch are, for the shares 1/128, 1/64, .., 1/2 and 1 of the
remaining requests, the smallest share by s + o, filled by ascending output until
the next one does not fit and cut where F was least. The best candidate becomes
the batch.

Why this is linear after one sort by output. The quantiles cut the sizes into
levels, each a list by ascending output. A candidate of level l takes a prefix of
each of the lists 0 .. l, so a batch is removed by moving the lists' heads, and
nothing it passed over is looked at again. A level's candidate is computed anew
only after a batch took from one of its lists. The quantiles come from 1,000 to 2,000
evenly spaced elements of the remaining list (all of a shorter one; no chance is
involved) and are renewed when a sixteenth has gone: the sizes of the lists so
rebuilt form a geometric series of sum 16 n.
"""

from __future__ import annotations

import numpy as np

from engine.batches.objective import better, lower
from engine.batches.peel import Batches
from engine.compiled import kernel, part
from engine.progress import Progress, silent
from engine.workload import Workload

SHARES = 0.5 ** np.arange(7, 0, -1)
SAMPLE = 1000  # and up to twice that, since every m-th element is taken
RENEWED_AFTER = 16


@part
def _next(head, tail, rank, level):
    """The list, of those up to `level`, whose head is first by output; -1 if all are empty."""
    first = -1
    for b in range(level + 1):
        if head[b] < tail[b] and (first < 0 or rank[head[b]] < rank[head[first]]):
            first = b
    return first


@part
def _candidate(head, tail, rank, output, size, level, memory):
    """The sums (outputs, count, size) of a level's candidate; count 0 if its lists are empty."""
    head = head.copy()
    sums = best = (0, 0, 0)
    while True:
        b = _next(head, tail, rank, level)
        if b < 0 or sums[2] + size[head[b]] > memory:
            return best
        sums = (sums[0] + output[head[b]], sums[1] + 1, sums[2] + size[head[b]])
        head[b] += 1
        if best[1] == 0 or not lower(best, sums):
            best = sums


@kernel
def _take_batches(rank, output, size, starts, memory, enough):
    """Batches until at least `enough` requests are taken; requests grouped by level.

    rank : (m,) int64, places in the list by output; ascending within a level
    starts : (levels + 1,) int64, where each level's list begins

    Returns the taken requests in order, and where each batch ends.
    """
    head, tail = starts[:-1].copy(), starts[1:]
    levels = head.size
    taken = np.empty(rank.size, np.int64)
    ends = np.empty(rank.size, np.int64)
    candidates = [(0, 0, 0)] * levels
    done = batches = stale = 0
    while done < enough:
        for level in range(stale, levels):
            candidates[level] = _candidate(head, tail, rank, output, size, level, memory)
        best = stale = levels - 1
        for level in range(levels - 1):
            if candidates[level][1] > 0 and better(candidates[level], candidates[best]):
                best = level
        for _ in range(candidates[best][1]):
            b = _next(head, tail, rank, best)
            taken[done] = head[b]
            head[b] += 1
            done += 1
            stale = min(stale, b)
        ends[batches] = done
        batches += 1
    return taken[:done], ends[:batches]


def _levels(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The requests grouped by level, and where each level begins."""
    sample = size[:: max(1, size.size // SAMPLE)]
    limits = np.unique(np.quantile(sample, SHARES, method="lower"))
    level = np.searchsorted(limits, size)
    starts = np.concatenate([[0], np.cumsum(np.bincount(level, minlength=limits.size + 1))])
    return np.argsort(level, kind="stable"), starts


def quantile(workload: Workload, memory: int, progress: Progress = silent) -> Batches:
    """Phase 1 on any number of requests that each fit in `memory`.

    `progress` is called whenever the quantiles are renewed, with the share of
    requests in batches.
    """
    left = workload.ascending(workload.output)
    order, ends, done = [], [], 0
    while left.size:
        size = workload.peak[left]
        rank, starts = _levels(size)
        enough = -(-left.size // RENEWED_AFTER)
        taken, batch_ends = _take_batches(
            rank, workload.output[left[rank]], size[rank], starts, memory, enough
        )
        order.append(left[rank[taken]])
        ends.append(done + batch_ends)
        done += taken.size
        left = np.delete(left, rank[taken])
        progress(done / len(workload))
    return Batches(np.concatenate(order), np.concatenate(ends))


def seconds(n: int) -> float:
    """What all batches of n requests take, about."""
    return 2e-4 + 1e-6 * n
