"""The loop of phase 1: take a batch from what remains until nothing remains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.progress import Progress, silent
from engine.workload import Workload


@dataclass(frozen=True, eq=False)
class Batches:
    """Every request in exactly one batch, in the order of phase 1.

    Attributes
    ----------
    order : (n,) int64, request indices batch after batch; within a batch by
        ascending (output, arrival, row)
    ends : (b,) int64, ascending: the place in `order` after each batch's last request
    """

    order: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(np.split(self.order, self.ends[:-1]))


def peel(
    workload: Workload,
    memory: int,
    solve: Callable[[np.ndarray, np.ndarray, int], np.ndarray],
    progress: Progress = silent,
) -> Batches:
    """Take the batch that `solve` finds, from what remains, until nothing remains.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    solve : (output, size, memory) -> (m,) bool, the batch; output and size = s + o
        are (m,) int64 of the remaining requests, by ascending row
    progress : called after every batch with the share of requests in batches
    """
    rank = np.empty(len(workload), np.int64)
    rank[workload.ascending(workload.output)] = np.arange(len(workload))
    left = np.argsort(workload.row, kind="stable")
    batches = []
    while left.size:
        chosen = solve(workload.output[left], workload.peak[left], memory)
        batch = left[chosen]
        batches.append(batch[np.argsort(rank[batch])])
        left = left[~chosen]
        progress(1 - left.size / len(workload))
    return Batches(np.concatenate(batches), np.cumsum([batch.size for batch in batches]))
