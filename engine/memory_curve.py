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
    """Tokens held on average over the clock from the first start on, idle time included."""
    curve = memory_curve(run)
    lasts = run.ends(curve.time[1:]) - run.begins(curve.time[:-1])
    # As in `MemoryCurve.mean`: the ends of a piece's rounds hold low + alive .. high.
    held = float((lasts * (curve.low + curve.alive + curve.high)).sum() / 2)
    return held / float(run.ends(curve.time[-1:])[0] - run.begins(curve.time[:1])[0])


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
