"""What a column holds, told by some of its values: a name alone is not believed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from engine.traces.clock import PER_SECOND
from engine.traces.columns import DURATION, MOMENT, NUMBER

NOTHING, FLAGS, WHOLE = "nothing", "yes and no", "whole numbers"
NUMBERS = "numbers that are not whole"
DATES, ODD_DATES, TEXT = "dates", "dates that can be read in several ways", "text"
OBJECTS, LISTS = "objects", "lists"
DURATIONS = "durations with their units"
ODD_DATE = re.compile(
    r"^\W*\d{1,4}[-/. ](\d{1,2}|[A-Za-z]{3,9})[-/. ,]+\d{2,4}\b|^\w{3}, \d\d \w{3}"
)
YEARS = (1.26e9, 2.21e9)  # seconds since 1970: 2010 to 2040
MOST_YEARS = 10 * 3.2e7  # seconds that the first rows of a log are apart


def held(values: Sequence[Any]) -> str:
    """What most of these values are."""
    counts = Counter(map(_kind, values))
    if not counts:
        return NOTHING
    if counts[WHOLE] + counts[NUMBERS] > len(values) / 2:
        return NUMBERS if counts[NUMBERS] > counts[WHOLE] else WHOLE
    return counts.most_common(1)[0][0]


def _kind(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return OBJECTS if isinstance(value, dict) else LISTS
    if isinstance(value, bool):
        return FLAGS
    text = str(value).strip()
    if text.lower() in ("true", "false", "yes", "no"):
        return FLAGS
    if re.match(NUMBER, text):
        return WHOLE if float(text).is_integer() else NUMBERS
    if re.match(MOMENT, text):
        return DATES
    if re.match(DURATION, text):
        return DURATIONS
    return ODD_DATES if ODD_DATE.match(text) else TEXT


def numbers(values: Sequence[Any]) -> list[float]:
    """Those of the values that are numbers."""
    texts = (str(value).strip() for value in values if not isinstance(value, bool))
    return [float(text) for text in texts if re.match(NUMBER, text)]


def since_1970(values: Sequence[Any], unit: str | None = None) -> bool:
    """Whether these are numbers that count from 1970, in one unit, to a year of our time.

    unit : the only one it can be; None: any
    """
    moments = numbers(values)
    if not moments or len(moments) < len(values) / 2:
        return False
    least, most = YEARS
    return any(
        all(least <= value / per_second <= most for value in moments)
        and (max(moments) - min(moments)) / per_second <= MOST_YEARS
        for per_second in ([PER_SECOND[unit]] if unit else PER_SECOND.values())
    )


def only_grows(values: Sequence[Any]) -> bool:
    """Whether these are numbers, each at least the one before and the last above the first."""
    moments = numbers(values)
    sorted_ = all(before <= after for before, after in pairwise(moments))
    return len(moments) == len(values) > 1 and sorted_ and moments[-1] > moments[0]


def is_numbering(values: Sequence[Any]) -> bool:
    """Whether these number the rows: 7, 8, 9, or the same backwards."""
    counts = numbers(values)
    steps = {after - before for before, after in pairwise(counts)}
    return len(counts) > 2 and steps in ({1.0}, {-1.0})
