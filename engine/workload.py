"""The requests of one experiment: who arrives when, with which lengths."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from engine.admission_limits import NO_LIMITS, AdmissionLimits
from engine.errors import InputError
from engine.fields import hold_number, number_in

MAX_TOKENS = 10**9  # a request; keeps every sum of the engine inside int64
MAX_MEMORY = 10**12  # tokens; a rack of GPUs holds some 10**8
MAX_ARRIVAL = 10**12  # clock units
MAX_PRIORITY = 10**9
PREDICTED = ("predicted", "predicted_lo", "predicted_hi")


def _column(values, dtype, name: str) -> np.ndarray:
    """One column, read-only and contiguous: a copy unless it is so; fractions are refused."""
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise InputError(f"{name} must be one column of numbers")
    if dtype is np.int64 and column.dtype.kind == "f":
        whole = np.isfinite(column) & (column == np.floor(column)) & (np.abs(column) < 2**53)
        _require(whole, name, column, "a whole number")
    flags = column.flags
    if column.dtype == dtype and flags.c_contiguous and flags.owndata and not flags.writeable:
        return column
    return read_only(np.array(column, dtype=dtype, order="C"))


def read_only(column: np.ndarray) -> np.ndarray:
    """The column itself, which nobody can write any more; a workload takes it without a copy."""
    column.flags.writeable = False
    return column


def _none(n: int) -> np.ndarray:
    """n zeros, which take no memory as long as they are only read."""
    return read_only(np.zeros(n, np.int64))


def _require(ok: np.ndarray, name: str, values: np.ndarray, need: str) -> None:
    if not ok.all():
        row = int(np.flatnonzero(~ok)[0])
        raise InputError(f"row {row + 1}, {name}: must be {need}, got {values[row]}")


def _require_within(values: np.ndarray, low: float, high: float, name: str, need: str) -> None:
    """Every value from low to high; the row of one that is not is looked for only then."""
    if not (values.min() >= low and values.max() <= high):  # nor where one is NaN
        _require((values >= low) & (values <= high), name, values, need)


MADE_UP: Any = None  # a column that is filled in where it was not given


@dataclass(frozen=True, eq=False)
class Workload:
    """n requests, in the order of the trace's rows. Immutable, and equal where they are the same.

    Attributes
    ----------
    arrival : (n,) float64, clock units, finite and >= 0, in any order
    prompt, output : (n,) int64, tokens, 1 .. 10**9
    class_of : (n,) int64, index into `classes`
    classes : names of the request classes
    row : (n,) int64, each request's row in the trace it came from; breaks the
        ties that arrival leaves
    priority : (n,) int64, -10**9 .. 10**9, lower first; all 0 where none was given
    concurrency : a closed loop of so many clients: arrivals are ignored, the requests come
        in order of the rows, and the next arrives the moment one finishes; 0: as they arrive
    admission_limits : who is not served, whatever the policy: too long, at a full queue, out
        of patience
    with_cache : requests arrive with the KV cache of their prompts and decode at once, as
        behind a pool of servers that prefill
    predicted : (n,) int64, the output that is predicted, tokens; None: the middle of the
        interval, or without one the output itself
    predicted_lo, predicted_hi : (n,) int64, the interval in which it is predicted to be;
        None: it is just `predicted`

    Raises
    ------
    InputError
        Naming the first bad row and field.
    """

    LEAST_PROMPT: ClassVar = 1

    arrival: np.ndarray
    prompt: np.ndarray
    output: np.ndarray
    class_of: np.ndarray = MADE_UP
    classes: tuple[str, ...] = ("all",)
    row: np.ndarray = MADE_UP
    priority: np.ndarray = MADE_UP
    concurrency: int = 0
    with_cache: bool = False
    predicted: np.ndarray | None = None
    predicted_lo: np.ndarray | None = None
    predicted_hi: np.ndarray | None = None
    admission_limits: AdmissionLimits = NO_LIMITS

    def __post_init__(self) -> None:
        n = len(self.arrival)
        if n == 0:
            raise InputError("the workload has no requests: give at least one row")
        columns = {
            "arrival": _column(self.arrival, np.float64, "arrival"),
            "prompt": _column(self.prompt, np.int64, "prompt"),
            "output": _column(self.output, np.int64, "output"),
            "class_of": _column(
                _none(n) if self.class_of is None else self.class_of, np.int64, "class"
            ),
            "row": _column(
                read_only(np.arange(n)) if self.row is None else self.row, np.int64, "row"
            ),
            "priority": _column(
                _none(n) if self.priority is None else self.priority, np.int64, "priority"
            ),
        }
        for name in PREDICTED:
            if getattr(self, name) is not None:
                columns[name] = _column(getattr(self, name), np.int64, name)
        for name, column in columns.items():
            if len(column) != n:
                raise InputError(f"{name} has {len(column)} rows but arrival has {n}")
            object.__setattr__(self, name, column)
        hold_number(self, "concurrency", 0, MAX_TOKENS, whole=True)
        arrival, class_of = columns["arrival"], columns["class_of"]
        _require_within(arrival, 0, MAX_ARRIVAL, "arrival", f"a number from 0 to {MAX_ARRIVAL:.0e}")
        for name in ("prompt", "output", *PREDICTED):
            if name in columns:
                least = self.LEAST_PROMPT if name == "prompt" else 1
                need = f"{least} to {MAX_TOKENS} tokens"
                _require_within(columns[name], least, MAX_TOKENS, name, need)
        last = len(self.classes) - 1
        _require_within(class_of, 0, last, "class", f"one of {len(self.classes)} classes")
        far = "at most a billion either way"
        _require_within(columns["priority"], -MAX_PRIORITY, MAX_PRIORITY, "priority", far)
        self._check_intervals()

    def _check_intervals(self) -> None:
        low, high = self.predicted_lo, self.predicted_hi
        if (low is None) != (high is None):
            present, missing = PREDICTED[1:] if high is None else PREDICTED[:0:-1]
            raise InputError(f"{present} is given without {missing}: an interval needs both")
        if low is not None:
            _require(low <= high, "predicted_lo", low, "at most predicted_hi")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __len__(self) -> int:
        return len(self.arrival)

    def __reduce__(self):
        """Pickled by its fields, so that its columns are read-only wherever it is unpacked."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def peak(self) -> np.ndarray:
        """(n,) int64: the most tokens each request ever holds, s + o."""
        return self.prompt + self.output

    @cached_property
    def volume(self) -> np.ndarray:
        """(n,) int64: token-rounds of memory, s*o + o*(o+1)/2."""
        return self.prompt * self.output + self.output * (self.output + 1) // 2

    @cached_property
    def expected(self) -> np.ndarray:
        """(n,) int64: the outputs as predicted, the true ones where nothing is."""
        if self.predicted is not None:
            return self.predicted
        if self.predicted_lo is not None:
            return (self.predicted_lo + self.predicted_hi) // 2
        return self.output

    @property
    def at_least(self) -> np.ndarray:
        """(n,) int64: the lower ends of the predicted intervals."""
        return self.expected if self.predicted_lo is None else self.predicted_lo

    @property
    def at_most(self) -> np.ndarray:
        """(n,) int64: the upper ends of the predicted intervals."""
        return self.expected if self.predicted_hi is None else self.predicted_hi

    @property
    def is_predicted(self) -> bool:
        """Whether anything was predicted, right or wrong."""
        return self.predicted is not None or self.predicted_lo is not None

    def believing(self, output: np.ndarray, memory: int) -> Workload:
        """What a planner sees that takes (n,) `output` for the truth, at most M - s each.

        For requests that fit in `memory`; itself where these are the true outputs.
        """
        if output is self.output:
            return self
        no_more: dict[str, Any] = dict.fromkeys(PREDICTED)
        return replace(self, output=np.minimum(output, memory - self.prompt), **no_more)

    def predictions_after(self, tokens: int) -> dict[str, Any]:
        """The predicted columns that there are, for what is left after so many tokens."""
        return {
            name: np.maximum(column - tokens, 1)
            for name in PREDICTED
            if (column := getattr(self, name)) is not None
        }

    @cached_property
    def is_backlog(self) -> bool:
        """Whether every request is there from the start."""
        return bool((self.arrival == 0).all()) and not self.concurrency

    @property
    def depends_on_run(self) -> bool:
        """Whether who comes or stays depends on how requests are served."""
        return bool(self.concurrency) or self.admission_limits.loses_requests

    @cached_property
    def is_too_long(self) -> np.ndarray:
        """(n,) bool: s + o is above max_model_len."""
        longest = self.admission_limits.max_model_len
        return self.peak > longest if longest else np.zeros(len(self), bool)

    def fits(self, memory: int) -> np.ndarray:
        """(n,) bool: s + o is at most `memory`, and not above max_model_len."""
        return (self.peak <= memory) & ~self.is_too_long

    @cached_property
    def digest(self) -> str:
        """A name for these exact requests, for caches and certificates."""
        content = hashlib.sha256(repr((self.classes, self.concurrency, self.with_cache)).encode())
        if self.admission_limits != NO_LIMITS:
            content.update(repr(self.admission_limits).encode())
        columns = [self.arrival, self.prompt, self.output, self.class_of, self.row]
        if self.priority.any():  # where none was given, the name is what it was without the column
            columns.append(self.priority)
        for name in PREDICTED:
            if getattr(self, name) is not None:
                content.update(name.encode())
                columns.append(getattr(self, name))
        for column in columns:
            content.update(column.data)
        return content.hexdigest()[:16]

    def take(self, which: np.ndarray) -> Workload:
        """The requests that `which` (a mask or indices) selects."""
        predicted: dict[str, Any] = {
            name: column[which] for name in PREDICTED if (column := getattr(self, name)) is not None
        }
        return replace(
            self,
            arrival=self.arrival[which],
            prompt=self.prompt[which],
            output=self.output[which],
            class_of=self.class_of[which],
            row=self.row[which],
            priority=self.priority[which],
            **predicted,
        )

    def ascending(self, key: np.ndarray) -> np.ndarray:
        """Request indices by ascending (key, arrival, row): the tie-break of every policy."""
        if self._rows_follow_arrivals:
            return np.argsort(key, kind="stable")
        return np.lexsort((self.row, self.arrival, key))

    @cached_property
    def _rows_follow_arrivals(self) -> bool:
        return bool((np.diff(self.arrival) >= 0).all() and (np.diff(self.row) > 0).all())


def check_memory(memory: Any) -> int:
    """`memory` as a whole number of tokens, or an InputError that says what is wrong."""
    return number_in("memory M (tokens)", memory, 1, MAX_MEMORY, whole=True)


def set_aside(workload: Workload, memory: int) -> tuple[Workload, np.ndarray]:
    """Split off the requests that can never run because s + o > M, or > max_model_len.

    Returns the requests that fit and the rows (int64) of those set aside.

    Raises
    ------
    InputError
        When no request fits: the message names the smallest M that runs one, or that all
        are too long.
    """
    fits = workload.fits(check_memory(memory))
    if fits.all():
        return workload, np.empty(0, np.int64)
    if workload.is_too_long.all():
        raise InputError(
            "every request is longer than max_model_len = "
            f"{workload.admission_limits.max_model_len:,}: the shortest has "
            f"{workload.peak.min():,} tokens (prompt + output)"
        )
    if not fits.any():
        raise InputError(
            f"no request fits in memory M = {memory:,}: the smallest needs "
            f"{workload.peak.min():,} tokens (prompt + output)"
        )
    return workload.take(fits), workload.row[~fits]
