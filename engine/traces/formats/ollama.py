"""Ollama's answers: a line an answer, all durations in nanoseconds.

Layout: the server's API. Tokens of a stream come in lines of their own, which are not done yet
and are set aside. `created_at` is when the answer was complete: the request came total_duration
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.traces.columns import Measured, Moments, TokenColumn, no_error, succeeded
from engine.traces.head import Head
from engine.traces.log import LogReading, before_their_end, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Ollama answers"
EXAMPLE = (
    '{"model": "m", "created_at": "2025-01-01T00:00:02.5Z", "done": true, "total_duration": '
    '1500000000, "load_duration": 100000000, "prompt_eval_count": 12, "prompt_eval_duration": '
    '200000000, "eval_count": 7, "eval_duration": 1200000000}\n'
)
NS = 1e-9


def matches(head: Head) -> bool:
    return head.is_objects("total_duration", "prompt_eval_count", "eval_count")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("no error", ("error",), no_error()),
        Field("done", ("done",), succeeded()),
        Field("prompt", ("prompt_eval_count",), TokenColumn()),
        Field("output", ("eval_count",), TokenColumn()),
        Field("ttft", ("ttft",), Measured(NS)),
        Field("latency", ("total_duration",), Measured(NS)),
    ]
    if opened.head.has("created_at"):
        fields.append(Field("arrival", ("created_at",), Moments()))
    return before_their_end(read_log(opened.rows(_with_ttft), fields, reading))


def _with_ttft(record: Mapping[str, Any]) -> Iterator[dict]:
    yield {**record, "ttft": _sum(record, ("load_duration", "prompt_eval_duration"))}


def _sum(record: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    parts = [value for name in names if isinstance(value := record.get(name), int)]
    return sum(parts) if len(parts) == len(names) else None
