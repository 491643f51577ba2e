"""What a column of text may hold: each kind reads a column and marks what it cannot read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.workload import MAX_ARRIVAL, MAX_PRIORITY, MAX_TOKENS

if TYPE_CHECKING:
    pass

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
WHOLE = r"^(\d{1,18}|[1-8]\d{18})(\.0*)?$"  # what int64 holds
TIME = r"\d\d:\d\d(:\d\d([.,]\d+)?)?"
ZONE = r" ?(UTC|Z|[+-]\d\d(:?\d\d)?( UTC)?)"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LOGGED = rf"[0-3]\d/({'|'.join(MONTHS)})/(19|20)\d\d:{TIME}({ZONE})?"  # by web servers
MOMENT = rf"^((19|20)\d\d-\d\d-\d\d([ T]{TIME}({ZONE})?)?|{LOGGED})$"
MICRO = ("us", "\u00b5s", "\u03bcs")  # the two signs for it look alike
UNITS = {"ms": 1e-3, **dict.fromkeys(MICRO, 1e-6), "ns": 1e-9, "h": 3600.0, "m": 60.0, "s": 1.0}
PIECE = rf"(\d+\.?\d*|\.\d+) ?({'|'.join(UNITS)})"
DURATION = rf"^({PIECE} ?)+$"  # 350ms, 1.2 s, 2m3s
MAX_NAMES = 1000
LONGEST_NAME = 1000  # characters
UNREADABLE = r"[\ufffd\x00-\x1f\x7f-\x9f]"  # not UTF-8, or control characters
FAILURES = (
    "error|errored|err|fail|failed|failure|timeout|timedout|timed_out|cancelled|canceled|abort"
    "|aborted|incomplete|rejected|dropped|killed|exception|exhausted|unavailable|unsuccessful"
    "|throttled|rate_limited|ratelimited|overloaded|denied|refused|forbidden|unauthorized|invalid"
    "|interrupted|terminated|expired|critical|fatal|nok|ko|deadline_exceeded|internal_server_error"
    "|shed|skipped|discarded|lost|blocked|overload|bad_gateway|bad_request|too_many_requests|not_found|gateway_timeout|service_unavailable"
)
NO_FAILURES = r"^no[ _-]?(error|failure|exception)s?$"


class Kind(Protocol):
    """A kind of column: `need` completes "must be ..".

    Called with a (k,) text array it returns (k,) values of type `dtype` and (k,) bool:
    which are good.
    """

    need: str
    dtype: Any  # a numpy type

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]: ...


class Number:
    """A decimal number from `low` to `high`, correctly rounded to float64."""

    dtype: Any = np.float64

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


class Stamp(Number):
    """A moment on any clock in any unit; whole numbers are exact up to 2**53."""

    def __init__(self):
        super().__init__(-1e20, 1e20, "a point in time, as a number")


class Ticks:
    """A moment as a whole number of ticks since 0: exact for nanoseconds since 1970."""

    dtype = np.int64
    need = "a point in time, as a whole number"

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        good = pc.match_substring_regex(column, WHOLE)
        whole = pc.replace_substring_regex(pc.if_else(good, column, "0"), r"\..*$", "")
        return pc.cast(whole, pa.int64()).to_numpy(), good.to_numpy(zero_copy_only=False)


class Moments:
    """A date and time, in UTC or with its zone, as nanoseconds since 1970.

    As ISO 8601 has it, and as databases, loggers and spreadsheets write it: with a comma before
    the fraction, without seconds, with ` UTC` or ` +0000` behind; and 02/Nov/2024:10:00:05, as web
    servers do.
    """

    dtype = np.int64
    need = "a date and time such as 2023-11-16 18:15:46.6805900"

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        import pandas as pd  # slow to import

        plain = pc.if_else(pc.match_substring_regex(column, MOMENT), column, None)
        plain = _in_numbers(pc.replace_substring(plain, ",", "."))
        plain = pc.replace_substring_regex(plain, r" ?([+-]\d\d(:?\d\d)?)( UTC)?$", r"\1")
        plain = pc.replace_substring_regex(plain, r" ?(UTC|Z)$", "Z")
        moments = pd.DatetimeIndex(
            pd.to_datetime(plain.to_pandas(), format="ISO8601", utc=True, errors="coerce")
        )
        return moments.as_unit("ns").asi8, moments.notna()


def _in_numbers(column: pa.StringArray) -> pa.StringArray:
    """Months that have names as ISO 8601 has them."""
    if not pc.any(pc.match_substring(column, "/")).as_py():
        return column
    for number, month in enumerate(MONTHS, 1):
        column = pc.replace_substring_regex(
            column, rf"^(\d\d)/{month}/(\d{{4}}):", rf"\2-{number:02d}-\1T"
        )
    return column


class Perhaps:
    """A moment of this kind, or none: then the least value, or NaN. No row is bad for it."""

    need = "a point in time, or blank"

    def __init__(self, kind: Kind):
        self.kind, self.dtype = kind, kind.dtype
        whole = np.issubdtype(self.dtype, np.integer)
        self.none = np.iinfo(self.dtype).min if whole else np.nan

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        values, good = self.kind(column)
        return np.where(good, values, self.none), np.ones(len(good), bool)

    def there(self, values: np.ndarray) -> np.ndarray:
        """Which of the values are moments."""
        return ~np.isnan(values) if np.isnan(self.none) else values != self.none


class Whole(Number):
    """A whole number from `low` to `high`."""

    dtype = np.int32

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        values, good = super().__call__(column)
        good &= values == np.floor(values)
        return np.where(good, values, 0).astype(self.dtype), good


class TokenColumn(Whole):
    """A whole number of tokens."""

    def __init__(self):
        super().__init__(1, MAX_TOKENS, f"a whole number of tokens from 1 to {MAX_TOKENS:,}")


class Priority(Whole):
    """Who goes first: lower numbers do."""

    def __init__(self):
        most = f"{MAX_PRIORITY:,}"
        super().__init__(-MAX_PRIORITY, MAX_PRIORITY, f"a whole number from -{most} to {most}")


class Measured(Number):
    """A duration that was measured, times `seconds` in its unit; NaN where there is none.

    With a unit of its own, 350ms or 2m3s, it is read in that. No row is bad for a measurement that
    it lacks.
    """

    def __init__(self, seconds: float = 1.0):
        super().__init__(0, MAX_ARRIVAL, "a duration")
        self.seconds = seconds

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        values, good = super().__call__(column)
        seconds = np.where(good, values * self.seconds, np.nan)
        with_units = pc.match_substring_regex(column, DURATION).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(with_units):
            seconds[row] = _seconds_of(column[row].as_py())
        return seconds, np.ones(len(values), bool)


def _seconds_of(duration: str) -> float:
    """A duration in pieces, each a number and its unit."""
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(PIECE, duration))


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
        readable = name and not re.search(UNREADABLE, name)
        known = name in self._numbers or len(self._numbers) < MAX_NAMES
        return self._numbers.setdefault(name, len(self._numbers)) if readable and known else -1


class Labels(Names):
    """A name that a log gives its requests: written so that a CSV can hold it.

    No row is bad for it: a blank or unreadable one is `unlabelled`, the
    thousandth and later ones are `other`.
    """

    def _number(self, name: str) -> int:
        label = " ".join(re.sub(r'[,"\s\x00-\x1f\x7f-\x9f]', " ", name[:LONGEST_NAME]).split())
        label = label if label and "\ufffd" not in label else "unlabelled"
        if label not in self._numbers and len(self._numbers) >= MAX_NAMES - 1:
            label = "other"
        return self._numbers.setdefault(label, len(self._numbers))


class Check:
    """A check that reads no value: the row counts if the column matches, or if it does not.

    What matches `but` counts whatever else it does.
    """

    dtype = np.int8

    def __init__(self, pattern: str, need: str, *, matches: bool = True, but: str = ""):
        self.pattern, self.need, self.matches, self.but = pattern, need, matches, but

    def __call__(self, column: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
        match = pc.match_substring_regex(column, self.pattern, ignore_case=True)
        good = match.to_numpy(zero_copy_only=False) == self.matches
        if self.but and not good.all():
            known = pc.match_substring_regex(column, self.but, ignore_case=True)
            good |= known.to_numpy(zero_copy_only=False)
        return np.zeros(len(good), self.dtype), good


def no_error() -> Check:
    """An error column that must be blank, null, false or 0."""
    blank = r"^(none|null|nan|nil|false|no|0|n/a|-|\{\}|\[\]|)$"
    return Check(blank, "blank: the request failed")


def no_failure() -> Check:
    """A status column that must not name a failure, an HTTP error or a number below 0.

    A failure may stand among other words: STATUS_CODE_ERROR, `503 Service Unavailable`.
    """
    http = r"(https?[ /]*[\d.]*\s+)?[45]\d\d(\.0*)?([^\d].*)?"
    named = rf"(.*[^a-z])?({FAILURES.replace('_', '[ _-]?')})([^a-z].*)?"
    joined = ".*(error|failed|failure|exceeded|exception|timeout|throttled|cancelled|canceled)"
    failed = rf"^({http}|{named}|{joined}|-\d+(\.0*)?)$"
    need = "that of a success: the request failed"
    return Check(failed, need, matches=False, but=NO_FAILURES)


def succeeded() -> Check:
    """A column that says of each request whether it succeeded."""
    need = "that of a success: the request failed"
    return Check(r"^(false|no|f|n|0|0\.0)$", need, matches=False)
