"""Amazon Bedrock's log of model invocations: a line an invocation, tokens under input and output.

Layout: the service's documentation. Tokens read from or written to the prompt cache are counted
beside the input's. `timestamp` is when the invocation came.
"""

from __future__ import annotations

from engine.traces.columns import TokenColumn, no_error, no_failure
from engine.traces.further_tokens import further_prompt, note
from engine.traces.head import Head
from engine.traces.log import LogReading, arrival_kind, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field
from engine.traces.sums import PLUS, Sums

NAME = "Amazon Bedrock invocation log"
EXAMPLE = (
    '{"timestamp": "2025-01-01T00:00:00Z", "operation": "Converse", "modelId": "m", "input": '
    '{"inputTokenCount": 12}, "output": {"outputTokenCount": 7}}\n'
)
PROMPT, OUTPUT = "input.inputTokenCount", "output.outputTokenCount"


def matches(head: Head) -> bool:
    return head.is_objects("timestamp", PROMPT, OUTPUT)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    head = opened.head
    further = further_prompt(head, PROMPT)
    stamps = head.values("timestamp")
    fields = [
        Field("no error", ("errorCode",), no_error()),
        Field("status", ("status",), no_failure()),
        Field("arrival", ("timestamp",), arrival_kind(stamps[0] if stamps else None)),
        Field("prompt", (PLUS.join((PROMPT, *further)),), TokenColumn()),
        Field("output", (OUTPUT,), TokenColumn()),
    ]
    notes = [note("prompt", PROMPT, further)] if further else []
    return read_log(Sums(opened.rows()), fields, reading, notes=notes)
