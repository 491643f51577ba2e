"""Runs as pictures over time: memory stacked by class, bars in slots, density.

Computes what the figures draw. A picture has some 1,500 columns of pixels, so
long runs are reduced to one value a column; the highest moment of each column
is kept, and with it the exact peak.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from engine.metrics import MemoryCurve, memory_curve
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule

COLUMNS = 1500


@dataclass(frozen=True, eq=False)
class MemoryStack:
    """Memory over time, split by class.

    Attributes
    ----------
    time : (k,) clock units, ascending; a time stands twice where memory drops
    by_class : (classes, k) int64, tokens of each class
    exact : whether every change point is there, or the highest moment of each column
    """

    time: np.ndarray
    by_class: np.ndarray
    exact: bool

    @property
    def total(self) -> np.ndarray:
        return self.by_class.sum(axis=0)


def memory_stack(run: Run, window: tuple[int, int] | None = None) -> MemoryStack:
    """Memory by class over the rounds of `window` (default: all)."""
    whole = memory_curve(run)
    first, last = window or (int(whole.time[0]), int(whole.time[-1]))
    curves = [
        memory_curve(run, run.workload.class_of == number)
        for number in range(len(run.workload.classes))
    ]
    shown = (whole.time[1:] > first) & (whole.time[:-1] < last)
    exact = int(shown.sum()) <= 2 * COLUMNS
    if exact:
        begins = np.maximum(whole.time[:-1][shown], first)
        ends = np.minimum(whole.time[1:][shown], last)
        moments = np.stack([begins, ends], axis=1).ravel()
        time = np.stack([run.begins(begins), run.ends(ends)], axis=1).ravel()
        pieces = np.repeat(np.flatnonzero(shown), 2)
        held = np.array([_held(c, moments, pieces) for c in curves])
        return MemoryStack(*_with_idle_time(time, held), exact)
    moments = _highest_moments(whole, first, last)
    pieces = np.searchsorted(whole.time[1:], moments)
    return MemoryStack(
        run.ends(moments), np.array([_held(c, moments, pieces) for c in curves]), exact
    )


def _with_idle_time(time: np.ndarray, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nothing is held while an idle server waits, which on the seconds clock is no piece."""
    # More than rounding lies between the end of one piece and the begin of the next.
    idle = np.flatnonzero(time[2::2] - time[1:-1:2] > 1e-9 * time[-1])
    where = np.repeat(2 * idle + 2, 2)
    ends = np.stack([time[2 * idle + 1], time[2 * idle + 2]], axis=1).ravel()
    return np.insert(time, where, ends), np.insert(held, where, 0, axis=1)


def _held(curve: MemoryCurve, moments: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    return curve.low[pieces] + curve.alive[pieces] * (moments - curve.time[pieces])


def _highest_moments(curve: MemoryCurve, first: int, last: int) -> np.ndarray:
    """For each of COLUMNS equal spans of time the round whose end holds most."""
    edges = np.linspace(first, last, COLUMNS + 1)[1:].astype(np.int64)
    ends = curve.time[1:]
    # Memory rises between change points: a span's maximum is at a change or at its edge.
    moments = np.unique(np.concatenate([ends[(ends > first) & (ends <= last)], edges]))
    held = _held(curve, moments, np.searchsorted(ends, moments))
    column = np.searchsorted(edges, moments)
    by_column = np.lexsort((held, column))
    highest = by_column[np.append(np.diff(column[by_column]) > 0, True)]
    return moments[np.sort(highest)]


def stays_within(run: Run, window: tuple[int, int] | None) -> np.ndarray:
    """Indices of the stays that overlap `window`, in order of begin."""
    if window is None:
        return np.arange(len(run.residencies.begin))
    return np.flatnonzero((run.residencies.begin < window[1]) & (run.residencies.end > window[0]))


def slots(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(k,) int64: the lowest free slot at each begin, so that bars in a slot never overlap.

    Both inputs are (k,), in order of begin; the number of slots is the most that run at once.
    """
    slot = np.empty(len(begin), np.int64)
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    used = 0
    for k, (starts, ends) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        while busy and busy[0][0] <= starts:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            slot[k] = heapq.heappop(free)
        else:
            slot[k] = used
            used += 1
        heapq.heappush(busy, (ends, int(slot[k])))
    return slot


@dataclass(frozen=True, eq=False)
class Density:
    """How much memory requests of each size hold over time.

    Attributes
    ----------
    time : (columns,), the middle round of each column, in clock units
    size_edges : (rows + 1,) float64, bounds of s + o, tokens, evenly spaced in the logarithm
    tokens, requests : (rows, columns) int64, in memory at that moment
    """

    time: np.ndarray
    size_edges: np.ndarray
    tokens: np.ndarray
    requests: np.ndarray


def density(
    run: Run, window: tuple[int, int] | None = None, columns: int = 400, rows: int = 24
) -> Density:
    """Memory by request size and time, at the middle round of each column."""
    residencies, size = run.residencies, run.workload.peak
    first, last = window or (int(residencies.begin[0]), int(run.finish.max()))
    edges = np.linspace(first, last, columns + 1)
    middle = np.floor((edges[:-1] + edges[1:]) / 2)
    size_edges = np.geomspace(size.min(), size.max() + 1, rows + 1)
    row = np.clip(np.searchsorted(size_edges, size, side="right") - 1, 0, rows - 1)[
        residencies.request
    ]
    enter = np.searchsorted(middle, residencies.begin, side="right")
    leave = np.searchsorted(middle, residencies.end, side="right")
    base, growing, requests = (np.zeros((rows, columns + 1), np.int64) for _ in range(3))
    for column, sign in ((enter, 1), (leave, -1)):
        np.add.at(
            base, (row, column), sign * (residencies.held - residencies.grows * residencies.begin)
        )
        np.add.at(growing, (row, column), sign * residencies.grows)
        np.add.at(requests, (row, column), sign)
    base, growing, requests = (cells.cumsum(axis=1)[:, :-1] for cells in (base, growing, requests))
    middle = np.maximum(middle.astype(np.int64), 1)
    return Density(run.ends(middle), size_edges, base + growing * middle, requests)


def held_at(run: Run | Schedule, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Who is in memory at the end of round `at`: request indices and their tokens, most first."""
    residencies = run.residencies
    here = np.flatnonzero((residencies.begin < at) & (residencies.end >= at))
    held = residencies.held[here] + residencies.grows[here] * (at - residencies.begin[here])
    most_first = np.argsort(-held, kind="stable")
    return residencies.request[here][most_first], held[most_first]
