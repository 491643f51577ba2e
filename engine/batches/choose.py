"""Which solver for how many requests."""

from __future__ import annotations

import numpy as np

from engine.batches import exact, quantile, swap
from engine.batches.peel import Batches, peel
from engine.errors import InputError
from engine.progress import Progress, silent
from engine.workload import Workload

SWAP_LIMIT = 2000  # requests


def exact_or_swap(output: np.ndarray, size: np.ndarray, memory: int) -> np.ndarray:
    """The exact batch, or local search's for lengths that need too many states."""
    try:
        return exact.exact(output, size, memory)
    except InputError:
        return swap.swap(output, size, memory)


def sorted_batches(workload: Workload, memory: int, progress: Progress = silent) -> Batches:
    """Phase 1 by the best solver that is quick at this size; parameters as for `peel`."""
    if len(workload) > SWAP_LIMIT:
        return quantile.quantile(workload, memory, progress)
    solve = exact_or_swap if len(workload) <= exact.LIMIT else swap.swap
    return peel(workload, memory, solve, progress)


def seconds(n: int) -> float:
    """What all batches of n requests take, about."""
    if n <= exact.LIMIT:
        return exact.seconds(n)
    return swap.seconds(n) if n <= SWAP_LIMIT else quantile.seconds(n)
