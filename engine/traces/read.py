"""A file becomes requests, a workload and a report."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import numpy as np

from engine.errors import InputError
from engine.fields import number_in
from engine.traces import formats
from engine.traces.formats import canonical, generic
from engine.traces.head import Head, look
from engine.traces.log import Reading
from engine.traces.opened import Opened
from engine.traces.opening import open_bytes
from engine.traces.report import Report
from engine.traces.requests import Requests
from engine.workload import PREDICTED, Workload


@cache
def known_formats() -> tuple[ModuleType, ...]:
    """Every file of engine/traces/formats; the canonical CSV and any other table last."""
    modules = [
        importlib.import_module(f"{formats.__name__}.{module.name}")
        for module in pkgutil.iter_modules(formats.__path__)
    ]
    last = (canonical, generic)
    return (*(module for module in modules if module not in last), *last)


def find_format(head: Head) -> ModuleType:
    """The format that a file's head belongs to; InputError says what is needed."""
    for layout in known_formats():
        if layout.matches(head):
            return layout
    logs = ", ".join(layout.NAME for layout in known_formats()[:-2])
    found = head.line or ", ".join(head.names)
    if head.kind == "table":
        names = [name.lower() for name in head.names]
        missing = [name for name in canonical.NEEDED if name not in names]
        raise InputError(
            f"the first line must name the columns {', '.join(canonical.NEEDED)}, separated by "
            f"commas (missing: {', '.join(missing)}), or be that of a known log ({logs}), or map "
            f"its columns, as in prompt=NAME; found: {found[:200]}"
        )
    raise InputError(
        f"this is of no known format ({logs}), and no name in it says which are the prompt and "
        f"output tokens: map them, as in prompt=NAME; found: {found[:200]}"
    )


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
    with _named(source), open_bytes(source) as file:
        head = look(file)
        layout = next((layout for layout in known_formats() if layout.matches(head)), None)
        return Glance(layout.NAME if layout else "", head.names, generic.guess(head))


def read_requests(
    source: str | PathLike | BinaryIO,
    *,
    strict: bool = False,
    time_unit: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Requests, Report]:
    """The requests in a file, in seconds, with what their server measured.

    Parameters
    ----------
    source : a path or an open binary file that can seek
    strict : make a bad row of a known log an error, which it always is in the canonical CSV
    time_unit : of numeric arrivals, one of s, ms, us, ns; None: what the format says
    columns : the file's name for arrival, prompt, output, class, ttft or latency,
        where it is not a common one; reads any table or JSON

    Raises
    ------
    InputError
        Naming the file and, where a row is bad, its number, line, column and value.
    """
    with _named(source):
        reading = Reading(strict, time_unit, columns or {})
        with open_bytes(source) as file:
            opened = Opened(file, look(file))
            with opened.stack:
                layout = generic if reading.columns else find_format(opened.head)
                requests = layout.parse(opened, reading)
        return requests, Report.of(requests, layout.NAME)


def read_trace(
    source: str | PathLike | BinaryIO,
    *,
    round_seconds: float = 1.0,
    strict: bool = False,
    time_unit: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Workload, Report]:
    """The requests in a file as a workload, and how they were read.

    Parameters
    ----------
    round_seconds : seconds a round takes; arrivals are divided by it
    source, strict, time_unit, columns : as in `read_requests`

    Returns
    -------
    The workload, its `row` counting the file's rows from 0, and the report.

    Raises
    ------
    InputError
        As `read_requests` does.
    """
    number_in("round_seconds", round_seconds, 1e-9, 1e9)
    requests, report = read_requests(source, strict=strict, time_unit=time_unit, columns=columns)
    with _named(source):
        return as_workload(requests, round_seconds), report


def as_workload(requests: Requests, round_seconds: float = 1.0) -> Workload:
    """The requests on a clock whose unit is `round_seconds`. Uses up their `seconds`."""
    # In place, because a second copy of a column counts in a file of 200 MB.
    np.divide(requests.seconds, round_seconds, out=requests.seconds)
    return Workload(
        requests.seconds,
        requests.prompt,
        requests.output,
        requests.class_of,
        requests.classes,
        requests.row,
        **{name: getattr(requests, name) for name in PREDICTED},
    )


@contextmanager
def _named(source: str | PathLike | BinaryIO) -> Iterator[None]:
    """Errors start with the name of the file."""
    name = Path(str(getattr(source, "name", "") if hasattr(source, "read") else source)).name
    try:
        yield
    except InputError as error:
        raise InputError(f"{name or 'the trace'}: {error}") from None
