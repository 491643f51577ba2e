"""Conversations as text: ShareGPT, LMSYS-Chat-1M, WildChat. Lengths are estimates.

A list `conversations` of {from, value}, or `conversation` of {role, content}, as
JSON or Parquet; some exports hold bare strings that alternate. A request is a
conversation up to its first answer, as serving benchmarks take it: everything
before that answer is the prompt. A token is four characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.traces.columns import Check, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, arrival_kind, read_log
from engine.traces.objects import Objects
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "conversations (ShareGPT, LMSYS, WildChat)"
EXAMPLE = (
    '[{"id": "a_0", "conversations": [{"from": "human", "value": "How are you today?"},'
    ' {"from": "gpt", "value": "Fine, thank you."}]}]'
)
CHARACTERS = 4  # a token, on average, in English
ESTIMATE = f"token counts are estimates: {CHARACTERS} characters are taken for a token"
LISTS = ("conversations", "conversation")
ASKS = ("human", "user")
ANSWERS = ("gpt", "assistant", "chatgpt", "bot", "model", "bing", "bard")


def matches(head: Head) -> bool:
    return head.kind in ("objects", "parquet") and _list_name(head) is not None


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    names = [name for name in (_list_name(opened.head),) if name is not None]
    later = _Later()
    talk = Check("^yes$", "one that has a question and an answer")
    fields = [
        Field("talk", ("the conversation",), talk),
        Field("prompt", ("prompt",), TokenColumn()),
        Field("output", ("output",), TokenColumn()),
    ]
    if "timestamp" in opened.head.names:
        names.append("timestamp")
        kind = arrival_kind(opened.head.first.get("timestamp"))
        fields.append(Field("arrival", ("timestamp",), kind))
    source = Objects(opened.objects(names), (), later.requests_of)
    requests = read_log(source, fields, reading, notes=[ESTIMATE])
    return replace(requests, notes=(*requests.notes, *later.notes))


def _list_name(head: Head) -> str | None:
    return next((name for name in LISTS if name in head.names), None)


class _Later:
    """Conversations as rows, and how many answers behind the first they have."""

    def __init__(self):
        self.answers = 0

    @property
    def notes(self) -> list[str]:
        if not self.answers:
            return []
        return [f"{self.answers:,} later answers are no requests here: the first of each is"]

    def requests_of(self, record: Mapping[str, Any]) -> Iterator[dict]:
        """The one row of a conversation; its lengths are blank where it has no answer."""
        row = {"timestamp": record.get("timestamp")}
        prompt = asked = 0
        for role, text in _turns(next((record[name] for name in LISTS if name in record), None)):
            if role in ANSWERS and asked:
                if "output" in row:
                    self.answers += 1
                    continue
                row |= {
                    "the conversation": "yes",
                    "prompt": _tokens(prompt),
                    "output": _tokens(text),
                }
            asked += role in ASKS
            prompt += text
        yield row


def _turns(turns: Any) -> Iterator[tuple[str, int]]:
    """Each turn's role, lower case, and its characters."""
    for number, turn in enumerate(turns if isinstance(turns, list) else []):
        if isinstance(turn, str):
            yield (ASKS[0], ANSWERS[0])[number % 2], len(turn)
        elif isinstance(turn, Mapping):
            role = turn.get("from") or turn.get("role")
            text = next((turn[key] for key in ("value", "content", "text") if turn.get(key)), "")
            yield str(role).lower(), len(text) if isinstance(text, str) else 0


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS)
