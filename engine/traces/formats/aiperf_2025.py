"""AIPerf's records of October 2025: one time a request, its metrics' names still short.

Layout: the tool's own example file of then. `timestamp_ns` is when a request was sent; later
files have request_start_ns in its place (aiperf.py).
"""

from __future__ import annotations

from engine.traces.columns import Check, Measured, Ticks, TokenColumn, no_error
from engine.traces.formats.aiperf import OUTPUT, PROMPT, with_durations
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "AIPerf per-request records of 2025"
EXAMPLE = (
    '{"metadata": {"timestamp_ns": 1759522419154829652, "credit_phase": "profiling"}, "metrics": '
    '{"input_sequence_length": {"value": 60, "unit": "tokens"}, "ttft": {"value": 80.5, "unit": '
    '"ms"}, "request_latency": {"value": 936.9, "unit": "ms"}, "output_sequence_length": '
    '{"value": 13, "unit": "tokens"}}, "error": null}\n'
)


def matches(head: Head) -> bool:
    return head.is_objects("metadata.timestamp_ns", "metrics") and not head.has(
        "metadata.request_start_ns"
    )


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    phase = Check("^(profiling|)$", "profiling: it is warm-up")
    fields = [
        Field("phase", ("metadata.credit_phase", "metadata.benchmark_phase"), phase),
        Field("cancelled", ("metadata.was_cancelled",), Check("^(false|)$", "false")),
        Field("no error", ("error",), no_error()),
        Field("arrival", ("metadata.timestamp_ns",), Ticks()),
        Field("prompt", (f"metrics.{PROMPT}.value", "metrics.isl.value"), TokenColumn()),
        Field("output", (f"metrics.{OUTPUT}.value", "metrics.osl.value"), TokenColumn()),
        Field("ttft", ("ttft",), Measured()),
        Field("latency", ("latency",), Measured()),
    ]
    return read_log(opened.rows(with_durations), fields, reading, unit="ns")
