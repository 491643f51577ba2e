"""Where an answer turns from yes to no: bisection over a factor.

Noise makes the border of a finite sample uncertain: what is found is an interval between a
setting for which the answer was yes and one for which it was no.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.progress import Progress

STEPS = 7
WIDEST = 2.0**6


@dataclass(frozen=True)
class Border:
    """The setting at which servers stop keeping up.

    Attributes
    ----------
    carries, fails : the last setting that kept up and the first that did not; 0 or infinite
        where none was found
    """

    carries: float
    fails: float


def bisect_factor(keeps_up: Callable[[float], bool], progress: Progress) -> Border:
    """The factor at which `keeps_up` turns from true to false, in the logarithm."""
    low, high, factor = 0.0, np.inf, 1.0
    asked = 0
    while not (low > 0 and np.isfinite(high)) and 1 / WIDEST <= factor <= WIDEST:
        low, high = (factor, high) if keeps_up(factor) else (low, factor)
        factor = low * 2 if low > 0 else high / 2
        asked += 1
        progress(min(0.4, 0.08 * asked))
    for step in range(STEPS if low > 0 and np.isfinite(high) else 0):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if keeps_up(middle) else (low, middle)
        progress(0.4 + 0.6 * (step + 1) / STEPS)
    return Border(low, high)
