"""LLMServingSim's output: a CSV row a request, all times in nanoseconds.

Layout: the simulator's documentation. Names have spaces, and ITL is a list in
quotes. Where generated_tokens is there it is what was generated; output is what
was asked for.
"""

from __future__ import annotations

from engine.traces.columns import Measured, Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "LLMServingSim result"
EXAMPLE = (
    "instance id,request id,model,input,output,arrival,end_time,latency,queuing_delay,TTFT,TPOT,"
    'ITL\n0,0,m,1472,3,4059740,1082836204,1078776464,0,51162321,7784955,"[7780422, 7779379]"\n'
)


def matches(head: Head) -> bool:
    return head.is_table("instance id", "request id", "input", "output", "arrival", "latency")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("arrival",), Stamp()),
        Field("prompt", ("input",), TokenColumn()),
        Field("output", ("generated_tokens", "output"), TokenColumn()),
        Field("ttft", ("TTFT",), Measured(1e-9), optional=True),
        Field("latency", ("latency",), Measured(1e-9)),
    ]
    return read_log(opened.rows(), fields, reading, unit="ns")
