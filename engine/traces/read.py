"""A file becomes requests, a workload and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np

from engine.errors import InputError
from engine.fields import number_in
from engine.registry import modules_in
from engine.traces.formats import canonical, generic
from engine.traces.head import Head, look
from engine.traces.judged import checks
from engine.traces.log import LogReading
from engine.traces.opened import Opened
from engine.traces.opening import open_bytes
from engine.traces.report import Report
from engine.traces.requests import TraceRequests, errors_of
from engine.traces.roles import Roles, find_roles
from engine.traces.token_names import may_count
from engine.workload import Workload, read_only

LONGEST_NAME = 200  # characters of a file's name, in a message


def known_logs() -> str:
    """The names of the logs and benchmark results that are known, for people."""
    return ", ".join(layout.NAME for layout in known_formats()[:-2])


@cache
def known_formats() -> tuple[ModuleType, ...]:
    """Every file of engine/traces/formats; the canonical CSV and any other table last."""
    last = (canonical, generic)
    return (
        *(module for module in modules_in("engine.traces.formats") if module not in last),
        *last,
    )


def _layout_of(head: Head) -> ModuleType | None:
    """The layout that a head belongs to, or None.

    A table of a public layout with a column that tells which requests failed is not that layout's
    own: it is read like any table, which looks at that column.
    """
    judged = head.kind in ("table", "parquet") and bool(checks(head))
    logs, last = known_formats()[:-2], known_formats()[-2:]
    return next(
        (layout for layout in (*(() if judged else logs), *last) if layout.matches(head)), None
    )


def find_format(head: Head) -> ModuleType:
    """The format that a file's head belongs to; InputError says what is needed."""
    if layout := _layout_of(head):
        return layout
    raise InputError(_what_is_missing(head))


def _what_is_missing(head: Head) -> str:
    """Why a file of no known format cannot be read, and what to give."""
    start = " ".join((head.line or ", ".join(head.names)).split())[:200]
    if head.kind == "metrics":  # of no server that is known
        return f"these are metrics of no server that is known; found: {start}"
    rows = generic.rows_head(head)
    roles = find_roles(rows)
    refused = {**_packed(rows), **(roles.tokens.refused or {})}
    held = "".join(f"; {name} holds {what}" for name, what in refused.items())
    missing = [role for role in ("prompt", "output") if not roles.names[role]]
    names = [name.lower() for name in head.names]
    lacking = [name for name in canonical.NEEDED if name not in names]
    ours = head.kind == "table" and len(lacking) < len(canonical.NEEDED)
    if len(missing) == 1 and not ours:
        (lacks,) = missing
        other = "prompt" if lacks == "output" else "output"
        return (
            f"no name says which column holds the {lacks} tokens ({roles.first(other)} is the "
            f"{other}): map it, as in {lacks}={_likely(rows, roles)}{held[:200]}; found: {start}"
        )
    if head.kind == "table":
        return (
            f"the first line must name the columns {', '.join(canonical.NEEDED)}, separated by "
            f"commas (missing: {', '.join(lacking)}), or be that of a known log, or its columns be "
            f"mapped, as in prompt=NAME{held[:200]}; found: {start}"
        )
    return (
        "this is of no known format, and no name in it says which are the prompt and output "
        f"tokens: map them, as in prompt=NAME{held[:200]}; found: {start}"
    )


def _packed(head: Head) -> dict[str, str]:
    """Names whose text is JSON, in which the counts may be."""
    values = {name: head.values(name) for name in head.names}
    return {
        name: "JSON as text: unpack it"
        for name, cells in values.items()
        if cells and all(isinstance(value, str) and value.lstrip()[:1] == "{" for value in cells)
    }


def _likely(head: Head, roles: Roles) -> str:
    """A name that may hold counts of tokens and has no role; NAME where none may."""
    taken = {name for names in roles.names.values() for name in names}
    return next((name for name in may_count(head) if name not in taken), "NAME")


@dataclass(frozen=True)
class Glance:
    """What the head of a file tells.

    Attributes
    ----------
    format : the name of its layout; empty where it has none that is known
    names : columns or keys that can be mapped to a role
    roles : the name found for each role of engine.traces.log.ROLES, or None
    """

    format: str
    names: tuple[str, ...]
    roles: Mapping[str, str | None]


def glance(source: str | PathLike | BinaryIO) -> Glance:
    """What a file looks like, without reading it; InputError as in `read_requests`."""
    with errors_of(_name(source)), open_bytes(source) as file:
        head = look(file)
        layout = _layout_of(head)
        rows = generic.rows_head(head)
        return Glance(layout.NAME if layout else "", rows.names, generic.likely_names(rows))


def read_requests(
    source: str | PathLike | BinaryIO,
    *,
    strict: bool = False,
    time_unit: str | None = None,
    duration_unit: str | None = None,
    columns: Mapping[str, str] | None = None,
    ignored: Sequence[str] = (),
) -> tuple[TraceRequests, Report]:
    """The requests in a file, in seconds, with what their server measured.

    Parameters
    ----------
    source : a path or an open binary file that can seek
    strict : make a bad row of a known log an error, which it always is in the canonical CSV
    time_unit : of numeric arrivals, one of s, ms, us, ns; None: what the format says
    duration_unit : of measured times whose names tell no unit, as time_unit; None: seconds
    columns : the file's name for arrival, prompt, output, class, ttft or latency,
        where it is not a common one; a sum of names for tokens; reads any table or JSON
    ignored : names of the file that are not to be used; reads any table or JSON

    Raises
    ------
    InputError
        Naming the file and, where a row is bad, its number, line, column and value.
    """
    name = _name(source)
    with errors_of(name):
        reading = LogReading(strict, time_unit, duration_unit, columns or {}, ignored)
        with open_bytes(source) as file:
            opened = Opened(file, look(file))
            with opened.stack:
                asked = reading.columns or reading.ignored
                layout = generic if asked else find_format(opened.head)
                if duration_unit and layout is not generic:
                    raise InputError(
                        f"the durations of a {layout.NAME} have a unit: it cannot be set"
                    )
                requests = replace(layout.parse(opened, reading), source=name)
        return requests, Report.of(requests, layout.NAME)


def read_trace(
    source: str | PathLike | BinaryIO,
    *,
    round_seconds: float = 1.0,
    strict: bool = False,
    time_unit: str | None = None,
    duration_unit: str | None = None,
    columns: Mapping[str, str] | None = None,
    ignored: Sequence[str] = (),
) -> tuple[Workload, Report]:
    """The requests in a file as a workload, and how they were read.

    Parameters
    ----------
    round_seconds : seconds a round takes; arrivals are divided by it
    source and the others : as in `read_requests`

    Returns
    -------
    The workload, its `row` counting the file's rows from 0, and the report.

    Raises
    ------
    InputError
        As `read_requests` does.
    """
    number_in("round_seconds", round_seconds, 1e-9, 1e9)
    requests, report = read_requests(
        source,
        strict=strict,
        time_unit=time_unit,
        duration_unit=duration_unit,
        columns=columns,
        ignored=ignored,
    )
    return as_workload(requests, round_seconds), report


def as_workload(requests: TraceRequests, round_seconds: float = 1.0) -> Workload:
    """The requests on a clock whose unit is `round_seconds`. Uses the requests up.

    Each column leaves them as it becomes the workload's: both together would be several
    times a file of 200 MB.

    Raises
    ------
    InputError
        For an arrival that this clock cannot tell, naming the file.
    """
    np.divide(requests.seconds, round_seconds, out=requests.seconds)
    columns = vars(requests)

    def taken(name: str) -> Any:
        return _handed_over(columns.pop(name), np.int64)

    with errors_of(requests.source):
        return Workload(
            arrival=_handed_over(columns.pop("seconds"), np.float64),
            prompt=taken("prompt"),
            output=taken("output"),
            class_of=taken("class_of"),
            classes=requests.classes,
            row=_rows(columns.pop("row"), requests.rows_in),
            priority=taken("priority"),
            predicted=taken("predicted"),
            predicted_lo=taken("predicted_lo"),
            predicted_hi=taken("predicted_hi"),
        )


def _handed_over(column: np.ndarray | None, dtype: type) -> Any:
    """A column that a workload takes as it is, or None."""
    return None if column is None else read_only(np.array(column, dtype))


def _rows(row: np.ndarray, rows_in: int) -> Any:
    """Each request's row; None where they are all of the file's in order, as a workload counts."""
    is_all = len(row) == rows_in and (row[1:] > row[:-1]).all()
    return None if is_all else _handed_over(row, np.int64)


def _name(source: str | PathLike | BinaryIO) -> str:
    """The name of a file, with which errors about it start."""
    name = getattr(source, "name", "") if hasattr(source, "read") else source
    return " ".join(Path(str(name)).name.split())[:LONGEST_NAME] or "the trace"
