"""A workload that ServeGen generated: request_id,timestamp,input_tokens,output_tokens.

Layout: what the tool's save_requests_to_csv writes, timestamps in seconds. The
tool's own data (chunk-0-trace.csv and the like) holds rates, not requests.
"""

from __future__ import annotations

from engine.traces.columns import Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.held import DATES, ODD_DATES, held, since_1970
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "ServeGen workload"
EXAMPLE = "request_id,timestamp,input_tokens,output_tokens\n0,0.5,10,20\n"


NAMES = ["request_id", "timestamp", "input_tokens", "output_tokens"]


def matches(head: Head) -> bool:
    """Gateways begin their logs with these names, too: with dates, or since 1970."""
    ours = head.kind == "table" and [name.lower() for name in head.names[:4]] == NAMES
    stamps = head.values(head.names[1]) if ours else []
    return ours and held(stamps) not in (DATES, ODD_DATES) and not since_1970(stamps)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("timestamp",), Stamp()),
        Field("prompt", ("input_tokens",), TokenColumn()),
        Field("output", ("output_tokens",), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading, unit="s")
