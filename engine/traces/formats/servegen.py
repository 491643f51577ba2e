"""A workload that ServeGen generated: request_id,timestamp,input_tokens,output_tokens.

Layout: what the tool's save_requests_to_csv writes, timestamps in seconds. The
tool's own data (chunk-0-trace.csv and the like) holds rates, not requests.
"""

from __future__ import annotations

from engine.traces.columns import Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "ServeGen workload"
EXAMPLE = "request_id,timestamp,input_tokens,output_tokens\n0,0.5,10,20\n"


def matches(head: Head) -> bool:
    names = [name.lower() for name in head.names]
    return (
        head.kind == "table"
        and names[:2] == ["request_id", "timestamp"]
        and (head.has("input_tokens", "output_tokens"))
    )


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("timestamp",), Stamp()),
        Field("prompt", ("input_tokens",), TokenColumn()),
        Field("output", ("output_tokens",), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading, unit="s")
