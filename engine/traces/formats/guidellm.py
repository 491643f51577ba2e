"""GuideLLM's benchmarks.json: the requests of each benchmark by what became of them.

Layouts: reports of version 2 (times under info.timings, tokens under
input_metrics and output_metrics) and the earlier ones (start_time,
prompt_tokens). Several benchmarks of a sweep follow each other on one clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import InputError
from engine.traces.columns import Check, Measured, Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.objects import value_at
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "GuideLLM report"
EXAMPLE = (
    '{"metadata": {"version": 2}, "benchmarks": [{"requests": {"successful": ['
    '{"request_id": "a", "info": {"timings": {"request_start": 1700000000.5, '
    '"first_token_iteration": 1700000000.75, "request_end": 1700000001.5}}, '
    '"input_metrics": {"text_tokens": 10}, "output_metrics": {"text_tokens": 4}}], '
    '"incomplete": [], "errored": []}}]}'
)
START = ("info.timings.request_start", "request_start_time", "start_time")
END = ("info.timings.request_end", "request_end_time", "end_time")
FIRST = ("info.timings.first_token_iteration", "first_token_time")
GROUPS = ("successful", "incomplete", "errored")


def matches(head: Head) -> bool:
    return head.is_objects("benchmarks")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    benchmarks = opened.head.first["benchmarks"]
    benchmarks = benchmarks if isinstance(benchmarks, list) else []
    if not any(True for _ in _requests(opened.head.first)):
        raise InputError(
            "this GuideLLM report holds no requests, only their statistics: "
            "run the benchmark again so that it keeps them"
        )
    fields = [
        Field("status", ("status",), Check("^successful$", "successful")),
        Field("arrival", START, Stamp()),
        Field("prompt", _token_names("prompt_tokens", "input_metrics"), TokenColumn()),
        Field("output", _token_names("output_tokens", "output_metrics"), TokenColumn()),
        Field("ttft", ("ttft",), Measured()),
        Field("latency", ("latency",), Measured()),
    ]
    return read_log(opened.rows(_requests), fields, reading, unit="s", notes=_notes(benchmarks))


def _notes(benchmarks: list) -> list[str]:
    """That there are several, and that the report keeps only a sample of their requests."""
    notes = []
    if len(benchmarks) > 1:
        notes.append(f"{len(benchmarks)} benchmarks follow each other: a window picks one")
    totals = [
        value_at(benchmark, path)
        for benchmark in benchmarks
        for path in (["request_totals", "total"], ["metrics", "request_totals", "total"])
    ]
    sent = sum(total for total in totals if isinstance(total, int))
    kept = sum(1 for _ in _requests({"benchmarks": benchmarks}))
    if sent > kept:
        notes.append(f"the report keeps {kept:,} of the {sent:,} requests that were sent")
    return notes


def _token_names(flat: str, metrics: str) -> tuple[str, ...]:
    return flat, f"{metrics}.total_tokens", f"{metrics}.text_tokens"


def _requests(report: Mapping[str, Any]) -> Iterator[Any]:
    """The requests of all benchmarks, with the status and durations of each."""
    benchmarks = report.get("benchmarks")
    for benchmark in benchmarks if isinstance(benchmarks, list) else []:
        for group in GROUPS:
            requests = value_at(benchmark, ["requests", group])
            for request in requests if isinstance(requests, list) else []:
                yield _with_durations(request, group) if isinstance(request, dict) else request


def _with_durations(request: dict, group: str) -> dict:
    start, first, end = (_number_at(request, names) for names in (START, FIRST, END))
    ttft = first - start if first is not None and start is not None else None
    latency = end - start if end is not None and start is not None else None
    return {**request, "status": group, "ttft": ttft, "latency": latency}


def _number_at(request: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    values = (value_at(request, name.split(".")) for name in names)
    return next((value for value in values if isinstance(value, (int, float))), None)
