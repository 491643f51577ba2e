"""The rounds of a server, seen from outside by when tokens came.

All tokens of a round come at its end, at the same moment but for the network's jitter. A
token of a running request comes one round after the one before, so the gap between them
is that round's length; tokens that come within half of it belong together. A first token
has no gap of its own: it belongs to the nearest such round, or else to one in which nobody
decoded.

A round's length is known where requests decoded both in it and in the round before: the
median of their gaps. It is also known where the server was idle and requests that were
sent at the same moment got their first tokens: the time from one to the other. All others
are left out: rounds in which somebody came back after a pause (who lost its KV cache
prefills an unknown number of tokens again), and those that nobody was in throughout.

Every prompt is taken as prefilled whole in the round that yields its first token. A server
that cuts prompts into chunks is described by it as far as prompts fit in one chunk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.calibrate.tokens import Benchmark
from engine.compiled import kernel

TOGETHER = 0.5  # of a round's length: tokens that come within belong to it
SAME_MOMENT = 1e-3  # seconds between requests that are sent at once


@dataclass(frozen=True, eq=False)
class Rounds:
    """Rounds whose length is known, k of them, in order of time.

    Attributes
    ----------
    prefilled, decoding, context : (k,) int64, P, B and K of docs/model.md 1.2
    seconds : (k,) float64, how long each lasted
    seen : how many rounds there were, those of unknown length included
    """

    prefilled: np.ndarray
    decoding: np.ndarray
    context: np.ndarray
    seconds: np.ndarray
    seen: int

    def __len__(self) -> int:
        return len(self.seconds)

    def take(self, which: np.ndarray) -> Rounds:
        return Rounds(
            self.prefilled[which],
            self.decoding[which],
            self.context[which],
            self.seconds[which],
            self.seen,
        )


@kernel
def _groups(at, reach):
    """(m,) int64: from 0, the group of each of m moments in order of time.

    A moment begins a group where it is further from the group's first than its own reach.
    """
    group = np.empty(at.size, np.int64)
    begun = -np.inf
    current = -1
    for token in range(at.size):
        if at[token] - begun > reach[token]:
            current += 1
            begun = at[token]
        group[token] = current
    return group


def _grouped(at: np.ndarray, reach: np.ndarray) -> np.ndarray:
    order = np.argsort(at, kind="stable")
    group = np.empty(len(at), np.int64)
    group[order] = _groups(at[order], reach[order])
    return group


def _round_of(bench: Benchmark, gap: np.ndarray) -> np.ndarray:
    """(m,) int64: the round of each token, from 0 in order of time.

    gap : (m,) to the token before of the same request; infinite for a first one
    """
    later = np.isfinite(gap)
    at = bench.at
    group = np.empty(len(at), np.int64)
    if not later.any():
        return _grouped(at, np.full(len(at), SAME_MOMENT))
    group[later] = _grouped(at[later], TOGETHER * gap[later])
    rounds = int(group[later].max()) + 1
    end, length = (_medians(group[later], values[later], rounds) for values in (at, gap))
    near = np.searchsorted((end[1:] + end[:-1]) / 2, at[~later])
    reach = TOGETHER * float(np.median(gap[later]))
    joins = np.abs(at[~later] - end[near]) <= np.minimum(reach, TOGETHER * length[near])
    apart = np.flatnonzero(~later)[~joins]
    group[~later] = near
    group[apart] = rounds + _grouped(at[apart], np.full(len(apart), reach))
    end = _medians(group, at, int(group.max()) + 1)
    rank = np.empty(len(end), np.int64)
    rank[np.argsort(end, kind="stable")] = np.arange(len(end))
    return rank[group]


def see_rounds(bench: Benchmark) -> Rounds:
    """The rounds of a benchmark whose lengths can be told."""
    first = bench.number == 0
    gap = np.where(first, np.inf, np.diff(bench.at, prepend=0.0))
    of = _round_of(bench, gap)
    rounds = int(of.max()) + 1
    before = np.concatenate([[-1], of[:-1]])
    steady = ~first & (before == of - 1)

    def sums(which: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.bincount(of[which], values[which], rounds).round().astype(np.int64)

    prompt = bench.prompt[bench.request].astype(float)
    ones = np.ones(len(of))
    decoding = sums(~first, ones)
    clean = decoding == sums(steady, ones)  # nobody came back, nobody got two tokens
    seconds = _medians(of[steady], gap[steady], rounds)
    alone = clean & (decoding == 0)
    seconds[alone] = _from_idle(bench, of, rounds)[alone]
    known = clean & np.isfinite(seconds) & (seconds > 0)
    held = sums(~first, prompt + bench.number)  # before the round
    return Rounds(sums(first, prompt), decoding, held, seconds, rounds).take(known)


def _medians(group: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """(groups,) the median of each group's values; NaN for an empty one."""
    order = np.lexsort((values, group))
    count = np.bincount(group, minlength=groups)
    begin = np.cumsum(count) - count
    medians = np.full(groups, np.nan)
    some = np.flatnonzero(count)
    low, high = begin[some] + (count[some] - 1) // 2, begin[some] + count[some] // 2
    medians[some] = (values[order[low]] + values[order[high]]) / 2
    return medians


def _from_idle(bench: Benchmark, of: np.ndarray, rounds: int) -> np.ndarray:
    """(rounds,) seconds of the rounds that begin as their requests come to an idle server."""
    firsts = np.flatnonzero(bench.number == 0)
    lasts = np.append(firsts[1:], len(bench.at)) - 1
    done = np.sort(bench.at[lasts])
    sent_by = np.sort(bench.sent)
    earliest, latest = np.full(rounds, np.inf), np.full(rounds, -np.inf)
    np.minimum.at(earliest, of[firsts], bench.sent)
    np.maximum.at(latest, of[firsts], bench.sent)
    # Idle: as many were done by then as had been sent before.
    idle = np.searchsorted(done, earliest, side="right") == np.searchsorted(sent_by, earliest)
    end = _medians(of[firsts], bench.at[firsts], rounds)
    return np.where(idle & (latest - earliest <= SAME_MOMENT), end - earliest, np.nan)
