"""Rows of a log become requests: arrivals on a clock, sorted, ties in the file's order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.traces.block import Source
from engine.traces.clock import (
    DATES,
    PER_SECOND,
    are_spreadsheet_days,
    guess_unit,
    since_1970,
    since_first,
    ticks,
)
from engine.traces.columns import MOMENT, Kind, Moments, Names, Perhaps, Stamp, Ticks
from engine.traces.objects import text_of
from engine.traces.report import COARSE, ties
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field, read_rows

BACKLOG = "no arrival times: a backlog, every request is there from the start"
SAME = "all of {} are the same: a backlog, every request is there from the start"
DAYS_OF_1900 = (
    "{} holds days since 1900, as spreadsheets count them: write dates such as 2024-11-02 10:00:00 "
    "or set the time unit"
)
ROLES = ("arrival", "prompt", "output", "class", "ttft", "latency", "first_token", "end")
MOMENTS = {"ttft": "first_token", "latency": "end"}  # what ends a duration
FEW = 100  # requests; a rate is not judged by fewer
CROWDED = 1000.0  # requests a second; above this a unit is more likely misread


@dataclass(frozen=True)
class LogReading:
    """How the user wants a file to be read.

    Attributes
    ----------
    strict : a bad row is an error
    time_unit : of the arrivals, in place of what the file's format says; a key of
        PER_SECOND
    duration_unit : of measured times whose names tell none, as time_unit
    columns : the file's name for a role (one of ROLES), where the user says it
    ignored : names of the file that are not to be used for anything
    """

    strict: bool = False
    time_unit: str | None = None
    duration_unit: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    ignored: Sequence[str] = ()

    def __post_init__(self) -> None:
        for what, unit in (("time", self.time_unit), ("duration", self.duration_unit)):
            if unit is not None and unit not in PER_SECOND:
                raise InputError(
                    f"the {what} unit must be one of {', '.join(PER_SECOND)}, got {unit}"
                )
        for role in self.columns:
            if role not in ROLES:
                raise InputError(f"a column can be mapped to {', '.join(ROLES)}, not to {role}")


def read_log(
    source: Source,
    fields: Sequence[Field],
    reading: LogReading,
    unit: str | None = None,
    notes: Sequence[str] = (),
) -> TraceRequests:
    """The requests of a log.

    Parameters
    ----------
    source : the file's rows
    fields : with the roles prompt and output, and perhaps the others of ROLES;
        first_token and end are on the clock of arrival and give durations that the
        file does not hold; further roles are checks
    unit : of the arrivals, a key of PER_SECOND; None: by name and size
    notes : sentences on the file that its format already knows

    Raises
    ------
    InputError
        As `read_rows` does.
    """
    rows = read_rows(source, fields, reading.strict)
    columns = rows.columns
    kinds = {asked.role: asked.kind for asked in fields}
    clock = _Clock(np.zeros(len(rows.row)), "none", (BACKLOG,))
    for asked in fields:
        if asked.role == "arrival" and "arrival" in columns:
            name = source.spell(asked.names) or asked.names[0]
            clock = _read_clock(columns["arrival"], asked.kind, name, reading.time_unit, unit)
    return in_order(
        TraceRequests(
            clock.seconds,
            columns["prompt"],
            columns["output"],
            rows.row,
            rows.rows_in,
            set_aside=rows.set_aside,
            class_of=columns.get("class"),
            classes=_classes(kinds["class"]) if "class" in columns else ("all",),
            ttft=_measured("ttft", columns, kinds, clock.unit),
            latency=_measured("latency", columns, kinds, clock.unit),
            time_unit=clock.unit,
            began=clock.began,
            notes=(*clock.notes, *notes),
        )
    )


def _classes(kind: Kind) -> tuple[str, ...]:
    """The names that a column of classes was read as."""
    return kind.names if isinstance(kind, Names) else ("all",)


def arrival_kind(first: Any) -> Kind:
    """The kind of a column of arrivals, by its first value: dates, ticks since 1970 or numbers."""
    text = text_of(first).strip()
    is_date = isinstance(first, str) and re.search(r"\d[-/:]\d", text)  # if not one we read
    if re.match(MOMENT, text) or is_date:
        return Moments()
    return Ticks() if re.match(r"^\d{16,19}$", text) else Stamp()


def in_order(requests: TraceRequests) -> TraceRequests:
    """Sorted by arrival; equal ones stay in the file's order."""
    if (requests.seconds[1:] >= requests.seconds[:-1]).all():
        return requests  # as most logs are: no second copy of every column
    return requests.take(np.argsort(requests.seconds, kind="stable"))


def before_their_end(requests: TraceRequests) -> TraceRequests:
    """The requests whose arrivals were read by when they ended: each its latency earlier.

    One without a latency arrives when it ended.
    """
    if requests.latency is None:
        return requests
    seconds = requests.seconds - np.nan_to_num(requests.latency)
    first = float(seconds.min())
    began = None if requests.began is None else requests.began + first
    return in_order(replace(requests, seconds=seconds - first, began=began))


@dataclass(frozen=True, eq=False)
class _Clock:
    """Arrivals in seconds since the first, the unit they had, and what to say about it.

    `began` is as in `Requests`.
    """

    seconds: np.ndarray
    unit: str
    notes: tuple[str, ...] = ()
    began: float | None = None


def _read_clock(
    values: np.ndarray, kind: Kind, name: str, asked: str | None, known: str | None
) -> _Clock:
    """Dates count in their own unit; numbers in the one asked for, known or guessed."""
    said = None
    if isinstance(kind, Moments):
        if asked:
            raise InputError(f"{name} holds dates, which have no time unit to set")
        unit = DATES
    elif decided := asked or known:
        unit = decided
    elif are_spreadsheet_days(values):
        raise InputError(DAYS_OF_1900.format(name))
    else:
        unit, said = guess_unit(name, values)
    seconds = since_first(values, unit)
    if len(seconds) > 1 and not seconds.any():
        return _Clock(seconds, unit, (SAME.format(name),))
    rate = (len(seconds) - 1) / max(float(seconds.max()), 1e-300)
    if len(seconds) >= FEW and rate > CROWDED and not asked:
        said = f"{name} read as {unit} means {rate:,.0f} requests a second: is the unit right?"
    notes = [said] if said else []
    distinct, _ = ties(seconds)
    if len(seconds) - distinct > len(seconds) / COARSE:
        notes.append(
            f"arrival times are coarse: {distinct:,} different ones for {len(seconds):,} requests; "
            "jitter spreads them"
        )
    return _Clock(seconds, unit, tuple(notes), since_1970(values, unit))


def _measured(
    role: str, columns: Mapping[str, np.ndarray], kinds: Mapping[str, Kind], unit: str
) -> np.ndarray | None:
    """(n,) seconds from a column, or from arrival to a moment; None where there are none."""
    moment = MOMENTS[role]
    moments, kind = columns.get(moment), kinds.get(moment)
    if role in columns:
        seconds = columns[role]
    elif moments is None or "arrival" not in columns:
        return None
    else:
        there = kind.there(moments) if isinstance(kind, Perhaps) else np.ones(len(moments), bool)
        seconds = np.full(len(moments), np.nan)
        seconds[there] = (moments[there] - columns["arrival"][there]) / ticks(unit)
        seconds[seconds < 0] = np.nan  # clocks that disagree
    return None if np.isnan(seconds).all() else seconds
