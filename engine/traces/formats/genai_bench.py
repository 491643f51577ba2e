"""genai-bench's results of a run: individual_request_metrics, without arrival times.

Layout: what the tool's metrics collector saves. Durations are in the file's
_time_unit, seconds where it names none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import InputError
from engine.traces.clock import PER_SECOND
from engine.traces.columns import Measured, TokenColumn, no_error
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "genai-bench result"
EXAMPLE = (
    '{"aggregated_metrics": {}, "individual_request_metrics": [{"ttft": 0.5, "tpot": 0.1, '
    '"e2e_latency": 1.5, "num_input_tokens": 100, "num_output_tokens": 11, "error_code": null}], '
    '"_time_unit": "s"}'
)


def matches(head: Head) -> bool:
    return head.is_objects("individual_request_metrics")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    named = str(opened.head.first.get("_time_unit", "s"))
    if named not in PER_SECOND:
        raise InputError(f"its _time_unit is {named[:20]}, not one of {', '.join(PER_SECOND)}")
    seconds = 1 / PER_SECOND[named]
    fields = [
        Field("no error", ("error_code",), no_error()),
        Field("prompt", ("num_input_tokens",), TokenColumn()),
        Field("output", ("num_output_tokens",), TokenColumn()),
        Field("ttft", ("ttft",), Measured(seconds)),
        Field("latency", ("e2e_latency",), Measured(seconds)),
    ]
    return read_log(opened.rows(_requests), fields, reading)


def _requests(result: Mapping[str, Any]) -> Iterator[Any]:
    requests = result.get("individual_request_metrics")
    yield from requests if isinstance(requests, list) else []
