"""Azure LLM inference traces: TIMESTAMP,ContextTokens,GeneratedTokens.

Layout: the public dataset's own files (CC-BY-4.0) of 2023 and 2024, and the
multimodal one of 2025, which has a column more. Timestamps have up to seven
fractional digits, with a zone in 2024, where whole seconds have no fraction.
"""

from __future__ import annotations

from engine.traces.columns import Moments, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Azure LLM inference trace"
EXAMPLE = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n"


def matches(head: Head) -> bool:
    return head.is_table("TIMESTAMP", "ContextTokens", "GeneratedTokens")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("TIMESTAMP",), Moments()),
        Field("prompt", ("ContextTokens",), TokenColumn()),
        Field("output", ("GeneratedTokens",), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading)
