"""Our own CSV: arrival,prompt,output, and more columns if there are any. Strict.

Arrivals are in seconds or in any clock unit the user means; rows are in any
order and keep their place. The first bad row is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.traces.clock import ticks
from engine.traces.columns import Names, Priority, Seconds, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field, read_rows
from engine.workload import PREDICTED

NAME = "canonical CSV"
EXAMPLE = "arrival,prompt,output\n0,1,1\n"
NEEDED = ("arrival", "prompt", "output")


def matches(head: Head) -> bool:
    names = {name.lower() for name in head.names}
    return head.kind == "table" and head.delimiter == "," and set(NEEDED) <= names


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    classes = Names()
    fields = [
        Field("arrival", ("arrival",), Seconds()),
        Field("prompt", ("prompt",), TokenColumn()),
        Field("output", ("output",), TokenColumn()),
        Field("class", ("class",), classes),
        Field("priority", ("priority",), Priority()),
        *(Field(name, (name,), TokenColumn()) for name in PREDICTED),
    ]
    names = [name.lower() for name in opened.head.names]
    fields = [field for field in fields if field.names[0] in names]
    fields.sort(key=lambda field: names.index(field.names[0]))  # the first bad place comes first
    rows = read_rows(opened.table(quoted=False), fields, strict=True)
    seconds = rows.columns["arrival"]
    if reading.time_unit:
        seconds = seconds / ticks(reading.time_unit)
    return TraceRequests(
        seconds,
        rows.columns["prompt"],
        rows.columns["output"],
        rows.row,
        rows.rows_in,
        class_of=rows.columns.get("class"),
        classes=classes.names or ("all",),
        priority=rows.columns.get("priority"),
        predicted=rows.columns.get("predicted"),
        predicted_lo=rows.columns.get("predicted_lo"),
        predicted_hi=rows.columns.get("predicted_hi"),
        time_unit=reading.time_unit or "s",
        unit_known=reading.time_unit is not None,
        notes=_notes(names),
    )


def _notes(names: Sequence[str]) -> tuple[str, ...]:
    known = (*NEEDED, "class", "priority", *PREDICTED)
    unknown = [name for name in names if name and name not in known]
    return tuple(f"the column {name} is not known and not used" for name in unknown)
