"""Vidur's length tables: num_prefill_tokens and num_decode_tokens, without arrival times."""

from __future__ import annotations

from engine.traces.columns import TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.names import plain
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Vidur length table"
EXAMPLE = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n3772,54,3826,69.85\n"
NEEDED = ("num_prefill_tokens", "num_decode_tokens")
KNOWN = {plain(name) for name in (*NEEDED, "num_total_tokens", "pd_ratio", "")}


def matches(head: Head) -> bool:
    return head.is_table(*NEEDED) and {plain(name) for name in head.names} <= KNOWN


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("prompt", (NEEDED[0],), TokenColumn()),
        Field("output", (NEEDED[1],), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading)
