"""Mooncake traces: JSON lines of timestamp (ms), input_length, output_length, hash_ids.

Layout: the public trace files. Stamps are whole milliseconds in bins of about
three seconds, so most requests tie. Qwen-Bailian's files have the same names in
seconds and a chat_id beside them.
"""

from __future__ import annotations

from engine.traces.columns import Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Mooncake trace"
EXAMPLE = '{"timestamp": 3000, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}\n'


def matches(head: Head) -> bool:
    ours = head.is_objects("timestamp", "input_length", "output_length", "hash_ids")
    return ours and not head.has("chat_id")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("timestamp",), Stamp()),
        Field("prompt", ("input_length",), TokenColumn()),
        Field("output", ("output_length",), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading, unit="ms")
