"""Qwen-Bailian traces: JSON lines with Mooncake's names, but in seconds, and a chat_id.

Layout: the public anonymised trace files. The class is the type of request.
"""

from __future__ import annotations

from engine.traces.columns import Labels, Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Qwen-Bailian trace"
EXAMPLE = (
    '{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 521, '
    '"output_length": 132, "type": "text", "turn": 1, "hash_ids": [1, 2]}\n'
)


def matches(head: Head) -> bool:
    return head.is_objects("chat_id", "timestamp", "input_length", "output_length")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("timestamp",), Stamp()),
        Field("prompt", ("input_length",), TokenColumn()),
        Field("output", ("output_length",), TokenColumn()),
    ]
    if "type" in opened.head.names:
        fields.append(Field("class", ("type",), Labels()))
    return read_log(opened.rows(), fields, reading, unit="s")
