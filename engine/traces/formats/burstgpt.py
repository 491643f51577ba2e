"""BurstGPT, files 1 to 3: Timestamp in seconds, Request tokens, Response tokens, Log Type.

Layout: the dataset's own files. A response of 0 tokens is a failed request.
File 3 has also a session and the elapsed time, which is that of the whole
response in seconds. Whole seconds make large ties in file 1.
"""

from __future__ import annotations

from engine.traces.columns import Check, Labels, Measured, Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "BurstGPT trace"
EXAMPLE = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n"
)


def matches(head: Head) -> bool:
    return head.is_table("Timestamp", "Request tokens", "Response tokens", "Log Type")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    failed = Check(r"^0+(\.0*)?$", "above 0: the request failed", matches=False)
    fields = [
        Field("answered", ("Response tokens",), failed),
        Field("arrival", ("Timestamp",), Stamp()),
        Field("prompt", ("Request tokens",), TokenColumn()),
        Field("output", ("Response tokens",), TokenColumn()),
        Field("class", ("Log Type",), Labels()),
        Field("latency", ("Elapsed time",), Measured(), optional=True),
    ]
    return read_log(opened.rows(), fields, reading, unit="s")
