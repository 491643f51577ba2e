"""When the linear relaxation starts each request, on average over its fractions."""

from __future__ import annotations

import time

import numpy as np

from engine.ascent.ascend import ascend
from engine.bound import find_method
from engine.policy import Progress
from engine.simulate.look_ahead import look_ahead
from engine.workload import Workload


def mean_starts(workload: Workload, memory: int, seconds: float, progress: Progress) -> np.ndarray:
    """(n,) float64 rounds: sum_k k x[i, k] at the best primal solution that the ascent has.

    Where the grid holds every round that is the solution of the LP itself; else of the
    LP with capacity counted by the grid's hats. Better solutions are sought for `seconds`.
    """
    run = look_ahead(workload, memory, workload.ascending(workload.volume), skip=5)
    fluid = find_method("fluid").bounds(workload, memory)[0]
    begun = time.monotonic()
    mean = run.start.astype(float)
    for step in ascend(workload, memory, run, fluid.prices, never_rising=False):
        mean = step.mean_start
        taken = time.monotonic() - begun
        progress(min(1.0, taken / seconds))
        if taken > seconds:
            break
    return mean
