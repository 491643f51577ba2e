"""AIPerf's profile_export.jsonl: a line a request, nanoseconds since 1970, values with units.

Layout: the tool's documentation of its per-request records. Failed and
cancelled requests have no metrics; those of a warm-up phase are set aside. The summary
beside it is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import InputError
from engine.traces.clock import PER_SECOND, unit_in
from engine.traces.columns import Check, Measured, Ticks, TokenColumn, no_error
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.objects import value_at
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "AIPerf per-request records"
EXAMPLE = (
    '{"metadata": {"request_start_ns": 1759813207532900363, "benchmark_phase": "profiling", '
    '"was_cancelled": false}, "metrics": {"input_sequence_length": {"value": 550, "unit": '
    '"tokens"}, "output_sequence_length": {"value": 9, "unit": "tokens"}, "time_to_first_token": '
    '{"value": 255.9, "unit": "ms"}, "request_latency": {"value": 297.5, "unit": "ms"}}, '
    '"error": null}\n'
)


PROMPT, OUTPUT = "input_sequence_length", "output_sequence_length"


def matches(head: Head) -> bool:
    return head.is_objects("metadata.request_start_ns", "metrics") or _is_summary(head)


def _is_summary(head: Head) -> bool:
    statistics = [
        f"{name}.{part}" for name in (PROMPT, "request_latency") for part in ("avg", "unit")
    ]
    return head.is_objects(*statistics)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    if _is_summary(opened.head):
        raise InputError(
            "this is AIPerf's summary, which holds no requests: give profile_export.jsonl"
        )
    phase = Check("^(profiling|)$", "profiling: it is warm-up")
    fields = [
        Field("phase", ("metadata.benchmark_phase",), phase),
        Field("cancelled", ("metadata.was_cancelled",), Check("^(false|)$", "false")),
        Field("no error", ("error",), no_error()),
        Field("arrival", ("metadata.request_start_ns",), Ticks()),
        Field("prompt", ("metrics.input_sequence_length.value",), TokenColumn()),
        Field("output", ("metrics.output_sequence_length.value",), TokenColumn()),
        Field("ttft", ("ttft",), Measured()),
        Field("latency", ("latency",), Measured()),
    ]
    return read_log(opened.rows(with_durations), fields, reading, unit="ns")


def with_durations(record: Mapping[str, Any]) -> Iterator[dict]:
    """A record with its ttft and latency in seconds."""
    metrics = record.get("metrics")
    first = (value_at(metrics, [name]) for name in ("time_to_first_token", "ttft"))
    yield {
        **record,
        "ttft": _seconds(next((value for value in first if value is not None), None)),
        "latency": _seconds(value_at(metrics, ["request_latency"])),
    }


def _seconds(measured: Any) -> float | None:
    """A value with its unit, in seconds; None where the unit is not known."""
    value, unit = value_at(measured, ["value"]), unit_in(str(value_at(measured, ["unit"])))
    return value / PER_SECOND[unit] if isinstance(value, (int, float)) and unit else None
