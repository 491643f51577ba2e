"""The memory that a run held over time, exactly, and what can be read off it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.simulate.run import Run
from engine.simulate.schedule import Schedule


@dataclass(frozen=True, eq=False)
class MemoryCurve:
    """Memory over time as its exact change points.

    Piece p covers the rounds from time[p] (not included) to time[p + 1]
    (included); within it memory rises by `alive[p]` tokens a round.

    Attributes
    ----------
    time : (m + 1,) int64, rounds, ascending
    low : (m,) int64, tokens as piece p begins: those of its requests before the next token
    high : (m,) int64, tokens at the end of round time[p + 1], the piece's peak
    alive : (m,) int64, tokens a round adds: the requests that decode
    """

    time: np.ndarray
    low: np.ndarray
    high: np.ndarray
    alive: np.ndarray

    @property
    def peak(self) -> int:
        return int(self.high.max())

    @property
    def mean(self) -> float:
        """Tokens held at the end of a round, on average over the curve's rounds."""
        rounds = np.diff(self.time)
        # The ends of a piece's rounds hold low + alive, low + 2 alive, .., high.
        held = rounds * (self.low + self.alive + self.high) / 2
        return float(held.sum() / rounds.sum())


def memory_curve(run: Run | Schedule, of: np.ndarray | None = None) -> MemoryCurve:
    """The memory that a run held over time.

    Parameters
    ----------
    run : the run
    of : (n,) bool, count only these requests (their share of the same rounds); default all
    """
    residencies = run.residencies
    grows, held = residencies.grows, residencies.held
    if of is not None:
        counted = of[residencies.request]
        grows, held = np.where(counted, grows, 0), np.where(counted, held, 0)
    offset = held - grows * residencies.begin
    moment = np.concatenate([residencies.begin, residencies.end])
    order = np.argsort(moment, kind="stable")
    moment = moment[order]
    last = np.flatnonzero(np.append(np.diff(moment) > 0, True))
    base = np.cumsum(np.concatenate([offset, -offset])[order])[last]
    alive = np.cumsum(np.concatenate([grows, -grows])[order])[last]
    time = moment[last]
    base, alive = base[:-1], alive[:-1]
    return MemoryCurve(time, base + alive * time[:-1], base + alive * time[1:], alive)


def peak_memory(run: Run) -> int:
    """The most tokens held at the end of a round, on one server."""
    return max(memory_curve(part).peak for part in run.parts)


def mean_memory(run: Run) -> float:
    """Tokens held by one server on average over the clock from the first start on, idle time too.

    In a span of rounds both memory and the length of a round rise by the same amount each round:
    over k rounds the sum of their products is k times the product of their means, and k (k^2 - 1)
    / 12 times the product of their steps. While nobody runs nothing counts, not even what requests
    hold that pause at a gate.
    """
    curve = memory_curve(run)
    edges = _where_lengths_change(run, curve)
    rounds = np.diff(edges)
    piece = np.searchsorted(curve.time, edges[:-1], side="right") - 1
    grows = curve.alive[piece]
    first = curve.low[piece] + grows * (edges[:-1] + 1 - curve.time[piece])
    last = first + grows * (rounds - 1)
    begins, ends = run.begins(edges[:-1]), run.ends(edges[1:])
    stretch = (ends - run.begins(edges[1:] - 1)) - (run.ends(edges[:-1] + 1) - begins)
    held = (ends - begins) * (first + last) / 2 + stretch * grows * rounds * (rounds + 1) / 12
    return float(held.sum() / (ends[-1] - begins[0]))


def _where_lengths_change(run: Run, curve: MemoryCurve) -> np.ndarray:
    """int64, rounds, ascending: the ends of the curve's pieces, and those of the spans within."""
    if run.timetable is None:
        return curve.time
    first = run.timetable.first
    inside = (first > curve.time[0]) & (first < curve.time[-1])
    return np.union1d(curve.time, first[inside])


def peak_batch(run: Run) -> int:
    """The most requests in memory at once, on one server."""
    return max(_peak_batch(part) for part in run.parts)


def _peak_batch(run: Run) -> int:
    residencies = run.residencies
    moment = np.concatenate(
        [residencies.end, residencies.begin]
    )  # who leaves goes before who comes
    change = np.repeat([-1, 1], len(residencies.request))
    return int(np.cumsum(change[np.argsort(moment, kind="stable")]).max())


def held_at(run: Run | Schedule, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Who is in memory at the end of round `at`: request indices and their tokens, most first."""
    residencies = run.residencies
    here = np.flatnonzero((residencies.begin < at) & (residencies.end >= at))
    held = residencies.held[here] + residencies.grows[here] * (at - residencies.begin[here])
    most_first = np.argsort(-held, kind="stable")
    return residencies.request[here][most_first], held[most_first]
