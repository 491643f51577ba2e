"""splitwise-sim's traces: arrival_timestamp (seconds), prompt_size, token_size.

Layout: the simulator's generated traces. A request_type other than 2 is no
language-model request.
"""

from __future__ import annotations

from engine.traces.columns import Check, Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "splitwise-sim trace"
EXAMPLE = (
    "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
    "0,2,0,0.1,1,374,44\n"
)


def matches(head: Head) -> bool:
    return head.is_table("arrival_timestamp", "prompt_size", "token_size")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    llm = Check(r"^2(\.0*)?$", "2, that of a language model")
    fields = [
        Field("llm", ("request_type",), llm, optional=True),
        Field("arrival", ("arrival_timestamp",), Stamp()),
        Field("prompt", ("prompt_size",), TokenColumn()),
        Field("output", ("token_size",), TokenColumn()),
    ]
    return read_log(opened.rows(), fields, reading, unit="s")
