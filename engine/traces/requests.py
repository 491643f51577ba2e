"""What a format returns: the requests of a file on a clock of seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from engine.errors import InputError
from engine.workload import PREDICTED

COLUMNS = (
    "seconds", "prompt", "output", "row", "class_of", "priority", "ttft", "latency", *PREDICTED,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TraceRequests:
    """The requests of a file, n of them.

    Attributes
    ----------
    seconds : (n,) float64, arrivals >= 0
    prompt, output : (n,) tokens
    row : (n,) each one's row in the file, counted from 0
    rows_in : rows in the file
    set_aside : how many were left out, by reason; rows_in = n + their sum
    class_of, classes : (n,) index into the names of the classes; None: one class
    priority : (n,) whole numbers, lower ones go first; None: all the same
    ttft, latency : (n,) seconds that the file's server took to the first token
        and to the last, NaN where it does not say; None: nowhere
    predicted, predicted_lo, predicted_hi : (n,) outputs as predicted, tokens; None: nothing is
    time_unit : of the file's arrivals
    began : seconds since 1970 (UTC) at which `seconds` are 0, where the file says it
    unit_known : False where `seconds` are in whatever unit the user means
    notes : sentences on what else the user should know
    part : which part of the file these are, in words; empty: all that can be used
    source : the name of the file, with which errors about it start
    """

    seconds: np.ndarray
    prompt: np.ndarray
    output: np.ndarray
    row: np.ndarray
    rows_in: int
    set_aside: dict[str, int] = field(default_factory=dict)
    class_of: np.ndarray | None = None
    classes: tuple[str, ...] = ("all",)
    priority: np.ndarray | None = None
    ttft: np.ndarray | None = None
    latency: np.ndarray | None = None
    predicted: np.ndarray | None = None
    predicted_lo: np.ndarray | None = None
    predicted_hi: np.ndarray | None = None
    time_unit: str = "s"
    began: float | None = None
    unit_known: bool = True
    notes: tuple[str, ...] = ()
    part: str = ""
    source: str = "the trace"

    def __len__(self) -> int:
        return len(self.seconds)

    def saying(self, notes: Iterable[str]) -> TraceRequests:
        """The same with these notes behind its own."""
        return replace(self, notes=(*self.notes, *notes))

    def take(self, which: np.ndarray) -> TraceRequests:
        """The requests that `which` (a mask or indices) selects, in that order."""
        columns = {
            name: column[which] for name in COLUMNS if (column := getattr(self, name)) is not None
        }
        return replace(self, **columns)


@contextmanager
def errors_of(source: str) -> Iterator[None]:
    """Errors start with the name of the file that they are about."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
