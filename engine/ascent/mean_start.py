"""When the linear relaxation starts each request, on average over its fractions."""

from __future__ import annotations

import numpy as np

from engine.ascent.ascend import ascend
from engine.bound import find_method
from engine.progress import Progress
from engine.simulate.look_ahead import look_ahead
from engine.workload import Workload


def mean_starts(workload: Workload, memory: int, grids: int, progress: Progress) -> np.ndarray:
    """(n,) float64 rounds: sum_k k x[i, k] in the mixture of the last of so many grids.

    Where that grid holds every round, this is the solution of the LP itself; else of the
    LP with capacity counted by the grid's hats.
    """
    run = look_ahead(workload, memory, workload.ascending(workload.volume), skip=5)
    fluid = find_method("fluid").bounds(workload, memory)[0]
    mean = run.start.astype(float)
    exhausted = 0
    for step in ascend(workload, memory, run, fluid.prices, never_rising=False):
        mean = step.mean_start
        exhausted += step.is_exhausted
        progress(exhausted / grids)
        if exhausted == grids:
            break
    return mean
