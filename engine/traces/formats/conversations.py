"""Conversations as text: ShareGPT, LMSYS-Chat-1M, WildChat, OpenAI's messages. Lengths are
estimates.

A list of {from, value} or {role, content}, under whatever name, as JSON or Parquet; some exports
hold bare strings that alternate. A request is a conversation up to its first answer, as serving
benchmarks take it: everything before that answer is the prompt. A token is four bytes of UTF-8:
four characters of English, a bit more than one of Chinese. Where rows have counts of tokens,
these are read instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.traces.arrival_names import arrival_name
from engine.traces.columns import Check, TokenColumn
from engine.traces.head import Head
from engine.traces.log import LogReading, arrival_kind, read_log
from engine.traces.objects import Objects, value_at
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field
from engine.traces.token_names import token_names

NAME = "conversations (ShareGPT, LMSYS, WildChat)"
EXAMPLE = (
    '[{"id": "a_0", "conversations": [{"from": "human", "value": "How are you today?"},'
    ' {"from": "gpt", "value": "Fine, thank you."}]}]'
)
BYTES = 4  # a token, on average
ESTIMATE = (
    f"token counts are estimates: {BYTES} bytes of UTF-8 are taken for a token, {BYTES} characters "
    "of English"
)
LISTS = ("conversations", "conversation", "messages", "dialog", "dialogue", "turns", "data")
ROLE_KEYS = ("from", "role", "speaker", "author")
TEXT_KEYS = ("value", "content", "text", "message")
ASKS = ("human", "user", "prompter")
ANSWERS = ("gpt", "assistant", "chatgpt", "bot", "model", "bing", "bard", "ai")


def matches(head: Head) -> bool:
    if head.kind not in ("objects", "parquet") or _list_name(head) is None:
        return False
    counts = token_names(head)
    return not (counts.prompt and counts.output)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    name = _list_name(opened.head) or LISTS[0]
    columns, later = [name.split(".")[0]], _Later(name)
    talk = Check("^yes$", "one that has a question and an answer")
    fields = [
        Field("talk", ("the conversation",), talk),
        Field("prompt", ("prompt",), TokenColumn()),
        Field("output", ("output",), TokenColumn()),
    ]
    if arrival := arrival_name(opened.head):
        later.arrival = arrival.name
        columns.append(arrival.name.split(".")[0])
        kind = arrival_kind(opened.head.values(arrival.name)[0])
        fields.append(Field("arrival", (arrival.name,), kind))
    source = Objects(opened.objects(columns), (), later.requests_of)
    requests = read_log(source, fields, reading, notes=[ESTIMATE])
    return replace(requests, notes=(*requests.notes, *later.notes))


def _list_name(head: Head) -> str | None:
    """The name of the list of turns: one of the common ones, or what holds such a list."""
    listed = [name for name in LISTS[:2] if name in head.names]
    return next((name for name in (*listed, *head.names) if _holds_turns(head, name)), None) or (
        listed[0] if listed else None
    )


def _holds_turns(head: Head, name: str) -> bool:
    return any(map(_are_turns, head.values(name))) or (
        name in LISTS and any(_are_texts(value) for value in head.values(name))
    )


def _are_turns(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(
        isinstance(turn, Mapping) and _has(turn, ROLE_KEYS) and _has(turn, TEXT_KEYS)
        for turn in value
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(t, str) for t in value)


def _has(turn: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    return any(key in turn for key in keys)


class _Later:
    """Conversations as rows, and how many answers behind the first they have."""

    def __init__(self, name: str):
        self.path, self.arrival = name.split("."), ""
        self.answers = self.media = 0

    @property
    def notes(self) -> list[str]:
        notes = []
        if self.answers:
            notes.append(
                f"{self.answers:,} later answers are no requests here: the first of each is"
            )
        if self.media:
            notes.append(
                f"{self.media:,} images and the like are in them, whose tokens are not counted"
            )
        return notes

    def requests_of(self, record: Mapping[str, Any]) -> Iterator[dict]:
        """The one row of a conversation; its lengths are blank where it has no answer."""
        row = {self.arrival: value_at(record, self.arrival.split("."))} if self.arrival else {}
        prompt = asked = 0
        for role, text in self._turns(value_at(record, self.path)):
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

    def _turns(self, turns: Any) -> Iterator[tuple[str, int]]:
        """Each turn's role, lower case, and the bytes of its text."""
        for number, turn in enumerate(turns if isinstance(turns, list) else []):
            if isinstance(turn, str):
                yield (ASKS[0], ANSWERS[0])[number % 2], _bytes(turn)
            elif isinstance(turn, Mapping):
                role = next((turn[key] for key in ROLE_KEYS if turn.get(key)), "")
                text = next((turn[key] for key in TEXT_KEYS if turn.get(key)), "")
                yield str(role).lower(), self._size(text) + _called(turn.get("tool_calls"))

    def _size(self, content: Any) -> int:
        """The bytes of a text, or of the texts among several parts."""
        if isinstance(content, list):
            return sum(map(self._size, content))
        if isinstance(content, Mapping):
            self.media += not isinstance(content.get("text"), str)
            content = content.get("text")
        return _bytes(content) if isinstance(content, str) else 0


def _called(calls: Any) -> int:
    """The bytes of the arguments with which a model calls tools."""
    called = (value_at(call, ["function", "arguments"]) for call in calls or [])
    return sum(_bytes(text) for text in called if isinstance(text, str))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _tokens(size: int) -> int:
    return -(-size // BYTES)
