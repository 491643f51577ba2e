"""When the linear relaxation starts each request, on average over its fractions."""

from __future__ import annotations

import numpy as np

from engine.progress import Progress
from engine.proof.ascent.ascend import ascend
from engine.proof.busy_periods import busy_periods
from engine.proof.fluid import fluid_duals
from engine.simulate.look_ahead import look_ahead
from engine.simulate.schedule import visible_rounds
from engine.workload import Workload


def mean_starts(workload: Workload, memory: int, grids: int, progress: Progress) -> np.ndarray:
    """(n,) float64 rounds: sum_k k x[i, k] in the mixture of the last of so many grids.

    Where that grid holds every round, this is the solution of the LP itself; else of the
    LP with capacity counted by the grid's hats. Each busy period has an LP of its own; where
    all fit in M, all start at once.
    """
    mean = visible_rounds(workload.arrival).astype(float)
    done = 0
    for period in busy_periods(workload, memory):
        if period.is_crowded:

            def report(share: float, done=done, period=period) -> None:
                progress((done + share * len(period.which)) / len(workload))

            starts = _in_one_period(period.workload, memory, grids, report)
            mean[period.which] = period.begin + starts
        done += len(period.which)
    return mean


def _in_one_period(workload: Workload, memory: int, grids: int, progress) -> np.ndarray:
    run = look_ahead(workload, memory, workload.ascending(workload.volume), skip=5)
    prices = fluid_duals(workload, memory)[0].prices
    mean = run.start.astype(float)
    exhausted = 0
    for step in ascend(workload, memory, run, prices, never_rising=False):
        mean = step.mean_start
        exhausted += step.is_exhausted
        progress(exhausted / grids)
        if exhausted == grids:
            break
    return mean
