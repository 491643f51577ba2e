"""Requests that keep one another out of memory: what each takes of a server, beyond its volume.

Volume says that held tokens add up to no more than M. Where few requests fill M that is not all:
two that hold 7 of 10 tokens each never share a round, although 3 tokens stay free.

*Dual feasible functions* (Fekete, Schepers 2001) say more, for every run. A function f of the
share of M that is held, with the property that shares that sum to at most 1 have an f that sums
to at most 1, gives a need: a request takes at least the sum of f over the rounds that yield its
tokens, the j-th of which ends with s + j tokens held, and a round has no more than one whole
server to give. f(x) = x is the volume. Two other kinds are used:

- for k = 1, 2, ..: x where (k+1)x is whole, else floor((k+1)x)/k. With k = 1 whoever holds more
  than half of M counts as holding all of it;
- x, but 1 where even the smallest request finds no room beside.

*Growth* excludes more, for runs in which nobody gives up KV cache: engine/proof/time_indexed/
exclusion.py shows that a request with P = s + o is, for

    min(P + 1 - ceil((M + 1 - P)/(q - 1)), P - smax)

rounds, one of at most q - 1, where smax is the largest prompt of all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.workload import Workload

MOST_TOGETHER = 3  # k: larger ones gained little
TOGETHER = (2, 3)  # q


def packed(workload: Workload, memory: int) -> Iterator[tuple[str, np.ndarray]]:
    """(n,) float64, rounds of a whole server that each request takes in any run, by several ways.

    Each with its name; none where volume says it all. For requests that all fit in `memory`.
    """
    for k in range(1, MOST_TOGETHER + 1):
        if (k + 1) * int(workload.peak.max()) >= memory:
            yield f"steps of 1/{k}", _in_steps(workload, memory, k)
    least = int(workload.prompt.min()) + 1
    if workload.peak.max() > memory - least:
        yield "filled up", _filled_up(workload, memory, least)


def _in_steps(workload: Workload, memory: int, k: int) -> np.ndarray:
    """The sum of the k-th function, counted by the steps that a growing request has passed."""
    s, peak = workload.prompt, workload.peak
    rounds = np.zeros(len(s))
    for step in range(1, k + 1):
        level = step * memory  # of (k + 1) * held
        beyond = np.minimum(workload.output, np.maximum(0, peak - level // (k + 1)))
        rounds += beyond / k
        if level % (k + 1) == 0:
            at = level // (k + 1)
            rounds += ((s < at) & (at <= peak)) * (step / (k + 1) - (step - 1) / k)
    return rounds


def _filled_up(workload: Workload, memory: int, least: int) -> np.ndarray:
    """Volume, where the room that is too small for the smallest counts as taken."""
    alone = np.minimum(workload.output, np.maximum(0, workload.peak - (memory - least)))
    first = workload.peak - alone  # held in the last round that leaves room
    spare = alone * memory - (alone * first + alone * (alone + 1) // 2)
    return (workload.volume + spare) / memory


def kept_apart(workload: Workload, memory: int) -> Iterator[tuple[str, np.ndarray]]:
    """(n,) float64, the same for runs in which nobody gives up KV cache, by their growth."""
    peak, longest = workload.peak, int(workload.prompt.max())
    for q in TOGETHER:
        if q * int(peak.max()) > memory:
            lacking = memory + 1 - peak
            begun = peak + 1 + -lacking // (q - 1)
            rounds = np.maximum(0, np.minimum(begun, peak - longest)) / (q - 1)
            yield f"at most {q - 1} at a time", rounds
