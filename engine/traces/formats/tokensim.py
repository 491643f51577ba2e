"""TokenSim's pairs: a JSON list of [prefill, decode, {..}], perhaps with an arrival_time (s).

Layout: the simulator's loader. Its other input, JSON lines, is Qwen-Bailian's.
"""

from __future__ import annotations

from engine.traces.columns import Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "TokenSim pairs"
EXAMPLE = '[[100, 20], [50, 8, {"chat_id": "a"}]]'
GAPS = "the times between arrivals (inter_arrival_time) are not used: a simulator's own draws"


def matches(head: Head) -> bool:
    return head.kind == "objects" and head.shape == "pairs"


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("prompt", ("prompt",), TokenColumn()),
        Field("output", ("output",), TokenColumn()),
    ]
    timed = opened.head.has("arrival_time")
    if timed:
        fields.append(Field("arrival", ("arrival_time",), Stamp()))
    gaps = opened.head.has("inter_arrival_time") and not timed
    return read_log(opened.rows(), fields, reading, unit="s", notes=[GAPS] * gaps)
