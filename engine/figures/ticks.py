"""Round numbers for logarithmic axes, written so that they fit beneath one another."""

from __future__ import annotations

import math


def round_numbers(low: float, high: float) -> list[float]:
    """Numbers with one digit, from low to high, both > 0: the fewer, the wider the range."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    wide = high / low
    leads = (1, 2, 3, 5, 7) if wide < 5 else (1, 2, 5) if wide < 100 else (1,)
    candidates = [lead * 10.0**decade for decade in decades for lead in leads]
    return [tick for tick in candidates if low <= tick <= high]


def short(value: float) -> str:
    """Three digits and a letter: 250, 1k, 24.7k, 2M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
