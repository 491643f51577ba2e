"""LLMServingSim's datasets: JSON lines of input_toks, output_toks, arrival_time_ns.

Layout: the simulator's own. Lines of an agentic session hold sub_requests in its
place, each started when the one before it and its tool are done; the tools'
durations are known, the serving times are not, so their arrivals are the
earliest possible. Both kinds may mix in a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.traces.columns import Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "LLMServingSim dataset"
EXAMPLE = '{"input_toks": 100, "output_toks": 20, "arrival_time_ns": 1500000000}\n'


def matches(head: Head) -> bool:
    return head.is_objects("arrival_time_ns") and (
        head.has("input_toks", "output_toks") or head.has("sub_requests")
    )


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("arrival_time_ns",), Stamp()),
        Field("prompt", ("input_toks",), TokenColumn()),
        Field("output", ("output_toks",), TokenColumn()),
    ]
    sessions = _Sessions()
    requests = read_log(opened.rows(sessions.requests_of), fields, reading, unit="ns")
    return replace(requests, notes=(*requests.notes, *sessions.notes))


class _Sessions:
    """Lines as requests, and how many of those follow another within a session."""

    def __init__(self):
        self.followers = 0

    @property
    def notes(self) -> list[str]:
        if not self.followers:
            return []
        return [
            f"{self.followers:,} requests follow another within a session: their arrivals count "
            "the tools before them, but not the serving"
        ]

    def requests_of(self, record: Mapping[str, Any]) -> Iterator[Any]:
        if not isinstance(record.get("sub_requests"), list):
            yield record
            return
        arrival = record.get("arrival_time_ns")
        for number, request in enumerate(record["sub_requests"]):
            self.followers += number > 0
            if not isinstance(request, Mapping):
                yield request
                continue
            yield {**request, "arrival_time_ns": arrival}
            tool = request.get("tool_duration_ns") or 0
            if isinstance(arrival, (int, float)) and isinstance(tool, (int, float)):
                arrival += tool
