"""Vidur's replay traces: arrived_at (seconds), num_prefill_tokens, num_decode_tokens.

Layout: the simulator's processed traces; earlier ones have Time,
PromptTokenCount and GeneratedTokenCount.
"""

from __future__ import annotations

from engine.traces.columns import TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, arrival_kind, read_log
from engine.traces.names import find_name
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Vidur replay trace"
EXAMPLE = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,591,140\n"
LAYOUTS = (
    ("arrived_at", "num_prefill_tokens", "num_decode_tokens"),
    ("Time", "PromptTokenCount", "GeneratedTokenCount"),
)


def matches(head: Head) -> bool:
    return any(head.is_table(*names) for names in LAYOUTS)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    arrival, prompt, output = next(names for names in LAYOUTS if opened.head.has(*names))
    first = opened.head.first.get(find_name((arrival,), opened.head.names) or arrival)
    fields = [
        Field("arrival", (arrival,), arrival_kind(first)),
        Field("prompt", (prompt,), TokenColumn()),
        Field("output", (output,), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading, unit="s")
