"""Dynamo's request trace: a line an event, of which a request's end has all that is known of it.

Layout: the schema dynamo.request.trace.v1. Some writers put each event under `event`, beside a
timestamp of their own. Tools and whatever else is traced are set aside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.traces.columns import Check, Measured, Stamp, TokenColumn, no_error, no_failure
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Dynamo request trace"
EXAMPLE = (
    '{"schema": "dynamo.request.trace.v1", "event_type": "request_end", "event_time_unix_ms": '
    '1777312801000, "request": {"request_id": "a", "input_tokens": 12, "output_tokens": 7, '
    '"request_received_ms": 1777312800500, "ttft_ms": 44.0, "total_time_ms": 480.0}}\n'
)
SCHEMA = "dynamo.request.trace"
WRAPPER = "event"
MS = 1e-3


def matches(head: Head) -> bool:
    return head.kind == "objects" and any(
        str(value).startswith(SCHEMA)
        for name in ("schema", f"{WRAPPER}.schema")
        for value in head.values(name)
    )


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    end = Check("^request_end$", "request_end: it is no request that was served")
    fields = [
        Field("end", ("event_type",), end),
        Field("no error", ("request.error",), no_error()),
        Field("status", ("request.status",), no_failure()),
        Field("arrival", ("request.request_received_ms",), Stamp()),
        Field("prompt", ("request.input_tokens",), TokenColumn()),
        Field("output", ("request.output_tokens",), TokenColumn()),
        Field("ttft", ("request.ttft_ms",), Measured(MS)),
        Field("latency", ("request.total_time_ms",), Measured(MS)),
    ]
    return read_log(opened.rows(_events), fields, reading, unit="ms")


def _events(record: Mapping[str, Any]) -> Iterator[Any]:
    inner = record.get(WRAPPER)
    yield inner if isinstance(inner, Mapping) else record
