"""A file becomes a workload and a report."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import numpy as np

from engine.errors import InputError
from engine.fields import number_in
from engine.traces import formats
from engine.traces.formats import canonical
from engine.traces.opening import open_text, read_header
from engine.traces.report import Report
from engine.traces.requests import Requests
from engine.traces.table import column_names
from engine.workload import Workload


@cache
def known_formats() -> tuple[ModuleType, ...]:
    """Every file of engine/traces/formats, the canonical CSV last."""
    modules = [
        importlib.import_module(f"{formats.__name__}.{module.name}")
        for module in pkgutil.iter_modules(formats.__path__)
    ]
    return tuple(sorted(modules, key=lambda module: module is canonical))


def find_format(header: str) -> ModuleType:
    """The format a first line belongs to; InputError says what was found and what is needed."""
    for layout in known_formats():
        if layout.matches(header):
            return layout
    names = column_names(header)
    missing = [name for name in canonical.NEEDED if name not in names]
    logs = ", ".join(layout.NAME for layout in known_formats()[:-1])
    raise InputError(
        f"the first line must name the columns {', '.join(canonical.NEEDED)}, separated by commas "
        f"(missing: {', '.join(missing)}), or be that of a known log ({logs}); "
        f"found: {header[:200]}"
    )


def read_trace(
    source: str | PathLike | BinaryIO, *, round_seconds: float = 1.0, strict: bool = False
) -> tuple[Workload, Report]:
    """The requests in a file, and how they were read.

    Parameters
    ----------
    source : a path or an open binary file that can seek
    round_seconds : seconds a round takes; arrivals are divided by it
    strict : make a bad row of a known log an error, which it always is in the canonical CSV

    Returns
    -------
    The workload, its `row` counting the file's rows from 0, and the report.

    Raises
    ------
    InputError
        Naming the file and, where a row is bad, its number, line, column and value.
    """
    number_in("round_seconds", round_seconds, 1e-9, 1e9)
    name = Path(str(getattr(source, "name", "") if hasattr(source, "read") else source)).name
    try:
        with open_text(source) as text:
            header = read_header(text)
            layout = find_format(header)
            requests = layout.parse(text, header, strict)
        report = _report(layout, requests)
        return _workload(requests, round_seconds), report
    except InputError as error:
        raise InputError(f"{name or 'the trace'}: {error}") from None


def _workload(requests: Requests, round_seconds: float) -> Workload:
    # In place, because a second copy of a column counts in a file of 200 MB.
    np.divide(requests.seconds, round_seconds, out=requests.seconds)
    return Workload(
        requests.seconds,
        requests.prompt,
        requests.output,
        requests.class_of,
        requests.classes,
        requests.row,
    )


def _report(layout: ModuleType, requests: Requests) -> Report:
    return Report(
        format=layout.NAME,
        rows_in=requests.rows_in,
        rows_kept=len(requests.seconds),
        set_aside=requests.set_aside,
        time_unit=requests.time_unit,
        span_s=float(np.ptp(requests.seconds)),
        distinct_arrivals=len(np.unique(requests.seconds)),
        notes=requests.notes,
    )
