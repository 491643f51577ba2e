"""What a column of text may hold: each kind reads a column and marks what it cannot read."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.workload import MAX_ARRIVAL, MAX_TOKENS

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
MOMENT = r"^(19|20)\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$"
MAX_NAMES = 1000


class Kind(Protocol):
    """A kind of column: `need` completes "must be ..".

    Called with a (k,) text array it returns (k,) values of type `dtype` and (k,) bool:
    which are good.
    """

    need: str
    dtype: type

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]: ...


class Number:
    """A decimal number from `low` to `high`, correctly rounded to float64."""

    dtype = np.float64

    def __init__(self, low: float = -np.inf, high: float = np.inf, need: str = "a number"):
        self.low, self.high, self.need = low, high, need

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        plain = pc.if_else(pc.match_substring_regex(column, NUMBER), column, "nan")
        values = pc.cast(plain, pa.float64()).to_numpy()
        return values, np.isfinite(values) & (values >= self.low) & (values <= self.high)


class Seconds(Number):
    """A moment on a clock that starts at or after 0."""

    def __init__(self):
        super().__init__(0, MAX_ARRIVAL, f"a number of seconds from 0 to {MAX_ARRIVAL:,}")


class Tokens(Number):
    """A whole number of tokens."""

    dtype = np.int32

    def __init__(self):
        super().__init__(1, MAX_TOKENS, f"a whole number of tokens from 1 to {MAX_TOKENS:,}")

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        values, good = super().__call__(column)
        good &= values == np.floor(values)
        return np.where(good, values, 0).astype(self.dtype), good


class Names:
    """A name out of a few, as its number in `names`, which lists them as they appear."""

    dtype = np.int32
    need = f"a name in UTF-8 text, and one of at most {MAX_NAMES:,} different ones"

    def __init__(self):
        self._numbers: dict[str, int] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        coded = pc.dictionary_encode(column)
        numbers = [self._number(name) for name in coded.dictionary.to_pylist()]
        values = np.array(numbers, self.dtype)[coded.indices.to_numpy()]
        return values, values >= 0

    def _number(self, name: str) -> int:
        readable = name and "\ufffd" not in name
        known = name in self._numbers or len(self._numbers) < MAX_NAMES
        return self._numbers.setdefault(name, len(self._numbers)) if readable and known else -1


class Moments:
    """A date and time, in UTC or with its zone, as nanoseconds since 1970."""

    dtype = np.int64
    need = "a date and time such as 2023-11-16 18:15:46.6805900"

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        plain = pc.if_else(pc.match_substring_regex(column, MOMENT), column, None).to_pandas()
        moments = pd.DatetimeIndex(
            pd.to_datetime(plain, format="ISO8601", utc=True, errors="coerce")
        )
        return moments.as_unit("ns").asi8, moments.notna()
