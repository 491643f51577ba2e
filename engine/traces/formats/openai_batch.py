"""The output of OpenAI's Batch API: a line a request, its answer under response.body.

Layout: the API's documentation; chat completions and the older ones count prompt and completion,
responses input and output. A batch has no arrivals of its own: `created` is when the server
began an answer, in whole seconds.
"""

from __future__ import annotations

from engine.traces.columns import Stamp, TokenColumn, no_error, no_failure
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "OpenAI batch output"
EXAMPLE = (
    '{"id": "batch_req_1", "custom_id": "a", "response": {"status_code": 200, "body": {"created": '
    '1700000000, "usage": {"prompt_tokens": 12, "completion_tokens": 7}}}, "error": null}\n'
)
BODY = "response.body"
STARTED = "a batch has no arrivals: these are the moments at which the answers were begun"


def matches(head: Head) -> bool:
    return head.is_objects("custom_id", "response") and (
        head.has(f"{BODY}.usage") or head.has("response.status_code")
    )


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    counts = f"{BODY}.usage."
    fields = [
        Field("status", ("response.status_code",), no_failure()),
        Field("no error", ("error",), no_error()),
        Field("answered", (f"{BODY}.status",), no_failure()),
        Field("arrival", (f"{BODY}.created", f"{BODY}.created_at"), Stamp()),
        Field("prompt", (counts + "prompt_tokens", counts + "input_tokens"), TokenColumn()),
        Field("output", (counts + "completion_tokens", counts + "output_tokens"), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading, unit="s", notes=[STARTED])
