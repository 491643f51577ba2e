"""Batches by sampled quantiles."""

import numpy as np

from engine.batches.objective import better, lower
from engine.compiled import kernel


@kernel
def _next(head, tail, rank, level):
    best = -1
    for b in range(level + 1):
        if head[b] < tail[b] and (best < 0 or rank[head[b]] < rank[head[best]]):
            best = b
    return best


@kernel
def _fill(head, tail, rank, output, size, level, memory):
    now = head.copy()
    total = count = used = 0
    b_total = b_count = b_used = 0
    while True:
        b = _next(now, tail, rank, level)
        if b < 0 or used + size[now[b]] > memory:
            return b_total, b_count, b_used, count
        i = now[b]
        now[b] += 1
        count += 1
        total += output[i]
        used += size[i]
        if b_count == 0 or not lower(b_total, b_count, total, count):
            b_total, b_count, b_used = total, count, used


@kernel
def _peel(rank, output, size, starts, memory, until, order, ends):
    """lists: requests grouped by level, ascending rank in a level; returns heads."""
    levels = starts.size - 1
    head = starts[:-1].copy()
    tail = starts[1:]
    total = np.empty(levels, np.int64)
    count = np.empty(levels, np.int64)
    used = np.empty(levels, np.int64)
    done = batches = 0
    scanned = 0
    touched = 0
    while done < until:
        for level in range(touched, levels):
            total[level], count[level], used[level], sc = _fill(head, tail, rank, output, size, level, memory)
            scanned += sc
        best = levels - 1
        for l in range(levels - 1):
            if count[l] and better(total[l], count[l], used[l], total[best], count[best], used[best]):
                best = l
        touched = best
        for _ in range(count[best]):
            b = _next(head, tail, rank, best)
            order[done] = head[b]
            head[b] += 1
            done += 1
            touched = min(touched, b)
        ends[batches] = done
        batches += 1
    return head, done, batches, scanned


def quantile(output, size, ascending, memory, cuts, sample=1000, share=8, bnd=True):
    left = ascending
    order, ends = [], []
    scanned = 0
    F = []
    while left.size:
        s = np.sort(size[left[:: max(1, left.size // sample)]])
        limits = np.unique(s[np.minimum((cuts * s.size).astype(int), s.size - 1)])
        level = np.searchsorted(limits, size[left])
        by = np.argsort(level, kind="stable")
        starts = np.searchsorted(level[by], np.arange(limits.size + 2))
        o = np.empty(left.size, np.int64)
        e = np.empty(left.size, np.int64)
        l = left[by]
        head, done, b, sc = _peel(by, output[l], size[l], starts, memory, max(1, left.size // share), o, e)
        scanned += sc
        order.append(l[o[:done]])
        ends.append(e[:b])
        gone = np.zeros(left.size, bool)
        gone[by[o[:done]]] = True
        left = left[~gone]
    return np.concatenate(order), ends, scanned
