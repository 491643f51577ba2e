"""How certain a gap is that was seen in some windows only: a bootstrap over the windows.

The gap is total cost over total bound. Windows are drawn with replacement as often as there
are, and the gap computed again; the middle 95 % of many such gaps are the interval
(Efron's percentile interval). With few windows it is somewhat too narrow.
"""

from __future__ import annotations

import numpy as np

LEVEL = 0.95
RESAMPLES = 4000
AT_A_TIME = 2_000_000  # draws, to bound the memory


def ratio_interval(
    cost: np.ndarray, bound: np.ndarray, seed: int = 0
) -> tuple[float, float] | None:
    """The interval of sum(cost) / sum(bound); None where one window says nothing of others.

    Parameters
    ----------
    cost, bound : (windows,) total latency in each, and what nobody can beat, > 0
    """
    windows = len(cost)
    if windows < 2:
        return None
    draw = np.random.Generator(np.random.PCG64(seed)).random
    ratios = np.concatenate(
        [
            cost[drawn].sum(axis=1) / bound[drawn].sum(axis=1)
            for drawn in _draws(draw, windows, max(1, AT_A_TIME // windows))
        ]
    )
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _draws(draw, windows: int, rows: int):
    for begin in range(0, RESAMPLES, rows):
        yield (draw((min(rows, RESAMPLES - begin), windows)) * windows).astype(np.int64)
