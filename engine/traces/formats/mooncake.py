"""Mooncake traces: JSON lines of timestamp (ms), input_length, output_length, hash_ids.

Layout: the public trace files. Stamps are whole milliseconds in bins of about
three seconds, so most requests tie. Qwen-Bailian's files have the same names in
seconds and a chat_id beside them. Files of sessions, as replay tools write them, have a
session_id, and a later turn has the `delay` (ms) behind the turn before in place of its
timestamp; serving times are not in it, so such arrivals are the earliest possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.traces.columns import Stamp, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "Mooncake trace"
EXAMPLE = '{"timestamp": 3000, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}\n'


def matches(head: Head) -> bool:
    ours = head.is_objects("timestamp", "input_length", "output_length")
    if not ours or head.has("chat_id"):
        return False
    return head.has("hash_ids") or head.has("session_id", "delay")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    fields = [
        Field("arrival", ("timestamp",), Stamp()),
        Field("prompt", ("input_length",), TokenColumn()),
        Field("output", ("output_length",), TokenColumn()),
    ]
    turns = _Turns()
    requests = read_log(opened.rows(turns.requests_of), fields, reading, unit="ms")
    return requests.saying(turns.notes)


class _Turns:
    """Lines as requests: when each turn of a session comes, and how many follow another."""

    def __init__(self):
        self.at: dict[Any, float] = {}
        self.followers = 0

    @property
    def notes(self) -> list[str]:
        if not self.followers:
            return []
        return [
            f"{self.followers:,} turns follow another of their session: their arrivals count the "
            "delay after it, but not the serving"
        ]

    def requests_of(self, record: Mapping[str, Any]) -> Iterator[Any]:
        session = record.get("session_id")
        if not isinstance(session, (str, int)):
            yield record
            return
        at, delay = record.get("timestamp"), record.get("delay")
        before = self.at.get(session)
        if at is None and isinstance(delay, (int, float)) and before is not None:
            at = before + delay
            self.followers += 1
            record = {**record, "timestamp": at}
        if isinstance(at, (int, float)):
            self.at[session] = at
        yield record
