"""llama.cpp's server: a line an answer, with its timings in milliseconds.

Layout: the server's API. `prompt_n` counts the tokens that were computed; those that the cache
had are `cache_n`. The whole prompt is usage.prompt_tokens or tokens_evaluated, where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.traces.columns import Measured, Stamp, TokenColumn, no_error
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.objects import value_at
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "llama.cpp server answers"
EXAMPLE = (
    '{"created": 1700000000, "usage": {"prompt_tokens": 12, "completion_tokens": 7}, "timings": '
    '{"cache_n": 4, "prompt_n": 8, "prompt_ms": 80.5, "predicted_n": 7, "predicted_ms": 350.25}}\n'
)
MS = 1e-3
CREATED = ("created", "created_at", "timestamp")


def matches(head: Head) -> bool:
    return head.is_objects("timings.prompt_n", "timings.predicted_n")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("no error", ("error",), no_error()),
        Field("prompt", ("usage.prompt_tokens", "tokens_evaluated", "prompt"), TokenColumn()),
        Field("output", ("usage.completion_tokens", "timings.predicted_n"), TokenColumn()),
        Field("ttft", ("timings.prompt_ms",), Measured(MS)),
        Field("latency", ("latency",), Measured(MS)),
    ]
    if created := next((name for name in CREATED if opened.head.has(name)), None):
        fields.append(Field("arrival", (created,), Stamp()))
    return read_log(opened.rows(_summed), fields, reading)


def _summed(record: Mapping[str, Any]) -> Iterator[dict]:
    timings = record.get("timings")
    yield {
        **record,
        "prompt": _sum(value_at(timings, ["prompt_n"]), value_at(timings, ["cache_n"]) or 0),
        "latency": _sum(value_at(timings, ["prompt_ms"]), value_at(timings, ["predicted_ms"])),
    }


def _sum(before: Any, other: Any) -> Any:
    numbers = all(isinstance(value, (int, float)) for value in (before, other))
    return before + other if numbers else None
