"""From a file's own clock to seconds since its first request."""

from __future__ import annotations

import re

import numpy as np

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DATES = "date and time"  # in nanoseconds, as engine.traces.columns.Moments reads them
SPELLED = {
    "s": "s sec secs second seconds",
    "ms": "ms msec millis millisecond milliseconds",
    "us": "us µs usec micros microsecond microseconds",
    "ns": "ns nsec nanos nanosecond nanoseconds",
}
EPOCH = {"ns": 1e17, "us": 1e14, "ms": 1e11, "s": 1e8}  # since 1970: years 1973 to 5138
SPREADSHEET = (36_526, 73_050)  # days since 1900: years 2000 to 2100
WHOLE_SECONDS = 0.005  # seconds; what a day's fraction with seven digits leaves
FEW_DAYS = 3  # values; fewer may be so by chance
CHUNK = 1 << 20  # moments at a time: a difference of all would be one more copy of a column
SLOWEST = 100.0  # a mean gap beyond this, between whole numbers, is taken for a finer unit


def unit_in(name: str) -> str | None:
    """The unit that a name ends in: arrival_time_ns, Latency (ms), startMs."""
    ending = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name.strip(" )]"))[-1].lower()
    return next((unit for unit, words in SPELLED.items() if ending in words.split()), None)


def guess_unit(name: str, values: np.ndarray) -> tuple[str, str | None]:
    """The unit of numbers under a name, and a sentence on how sure that is.

    The name's ending decides; else the size, where it can only count from 1970;
    else seconds, unless whole numbers lie so far apart that less than a request
    would come in 100 of them.
    """
    if unit := unit_in(name):
        return unit, None
    largest = float(np.max(values))
    for unit, least in EPOCH.items():
        if float(np.min(values)) >= least:
            return unit, f"{name} is read as {unit} since 1970, by its size"
    mean_gap = (largest - float(np.min(values))) / max(1, len(values) - 1)
    unit = "s"
    if (values == np.floor(values)).all():
        for unit in ("s", "ms", "us", "ns"):
            if mean_gap <= SLOWEST * PER_SECOND[unit]:
                break
    return unit, f"{name} names no unit: {unit} is a guess by its size, and can be set"


def are_spreadsheet_days(values: np.ndarray) -> bool:
    """Whether these are days since 1900 with a time of day, whole seconds, of 2000 to 2100."""
    if len(values) < FEW_DAYS or (values == np.floor(values)).all():
        return False
    low, high = SPREADSHEET
    seconds = values * 86_400.0
    within = (values >= low) & (values <= high)
    return bool((within & (abs(seconds - np.round(seconds)) < WHOLE_SECONDS)).all())


def since_first(values: np.ndarray, unit: str) -> np.ndarray:
    """(n,) float64 seconds from the least of the values; exact before the one division."""
    first, seconds = values.min(), np.empty(len(values))
    for begin in range(0, len(values), CHUNK):
        part = slice(begin, begin + CHUNK)
        seconds[part] = (values[part] - first) / ticks(unit)
    return seconds


def since_1970(values: np.ndarray, unit: str) -> float | None:
    """Seconds since 1970 of the least value; None where values count from something else."""
    first = float(values.min()) / ticks(unit)
    return first if first >= EPOCH["s"] else None


def ticks(unit: str) -> int:
    """How many of the unit are a second."""
    return PER_SECOND["ns" if unit == DATES else unit]
