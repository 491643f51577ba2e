"""An axis of gaps in per cent: logarithmic, since they run from 1 to 1,000, with a floor."""

from __future__ import annotations

import math
from collections.abc import Iterable

from engine.figures.ticks import round_numbers

FLOOR = 0.1  # per cent: a smaller gap, also none, is drawn here and named in the hover


def height(gap: float) -> float:
    """Where a gap (1.09 for +9 %) is drawn, in per cent."""
    return max(FLOOR, 100 * (gap - 1))


def percent_axis(gaps: Iterable[float]) -> dict:
    """The settings of an axis that has room for these gaps."""
    heights = [height(gap) for gap in gaps]
    low, high = min(heights) / 1.4, max(heights) * 1.4
    return {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickvals": (ticks := round_numbers(low, high)),
        "ticktext": [_written(tick) for tick in ticks],
        "title": "gap to the bound (%)",
    }


def _written(tick: float) -> str:
    return f"≤ {tick:g}" if tick <= FLOOR else f"{tick:g}"
