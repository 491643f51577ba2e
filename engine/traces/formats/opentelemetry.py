"""OpenTelemetry spans of calls to models, with the conventions of generative AI (gen_ai.usage).

Layouts: a span a line, as collectors' file exporters and SDKs print them, or the protocol's JSON
with resourceSpans around many spans; attributes as an object or as a list of keys and values.
Spans of agents and tools count what their calls count already, and are set aside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.traces.columns import Check, Measured, Perhaps, TokenColumn, no_failure
from engine.traces.head import Head
from engine.traces.log import LogReading, arrival_kind, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "OpenTelemetry spans"
EXAMPLE = (
    '{"name": "chat m", "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": '
    '"1700000001000000000", "attributes": {"gen_ai.usage.input_tokens": 12, '
    '"gen_ai.usage.output_tokens": 7}}\n'
)
USAGE = "gen_ai.usage."
PROMPT = (
    USAGE + "input_tokens", USAGE + "prompt_tokens", "llm.usage.prompt_tokens",
    "llm.token_count.prompt",
)  # fmt: skip
OUTPUT = (
    USAGE + "output_tokens", USAGE + "completion_tokens", "llm.usage.completion_tokens",
    "llm.token_count.completion",
)  # fmt: skip
STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "timestamp")
ENDS = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
FIRST = (
    "gen_ai.server.time_to_first_token", "gen_ai.response.time_to_first_chunk",
    "gen_ai.latency.time_to_first_token",
)  # fmt: skip
SPANS = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans")
CALLS = r"^(chat|text_completion|completion|generate_content|llm|)$"
FAILED = ("2", "error", "STATUS_CODE_ERROR")


def matches(head: Head) -> bool:
    if head.kind != "objects":
        return False
    spans = (span for row in (head.first, *head.rows) for span in _spans(row))
    return any(_attributes(span) for _, span in zip(range(1000), spans, strict=False))


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    first = next((row for _, value in opened.objects() for row in _rows(value)
                  if row["arrival"] is not None), {})  # fmt: skip
    clock = arrival_kind(first.get("arrival"))
    fields = [
        Field("call", ("operation",), Check(CALLS, "a call of a model")),
        Field("status", ("status",), no_failure()),
        Field("arrival", ("arrival",), clock),
        Field("prompt", ("prompt",), TokenColumn()),
        Field("output", ("output",), TokenColumn()),
        Field("end", ("end",), Perhaps(clock)),
        Field("ttft", ("ttft",), Measured()),
    ]
    names = ("operation", "status", "arrival", "prompt", "output", "end", "ttft")
    return read_log(opened.rows(_rows, names), fields, reading, unit=_unit(first.get("arrival")))


def _unit(first: Any) -> str | None:
    """Nanoseconds where the protocol has its own; dates have none."""
    return "ns" if str(first).isdigit() and len(str(first)) >= 18 else None


def _spans(value: Any) -> Iterator[Mapping[str, Any]]:
    """The spans within whatever wraps them."""
    if not isinstance(value, Mapping):
        return
    inner = [value[name] for name in SPANS if isinstance(value.get(name), list)]
    if not inner:
        yield value
    for group in inner:
        for part in group:
            yield from _spans(part)


def _rows(value: Any) -> Iterator[dict]:
    for span in _spans(value):
        said = _attributes(span)
        status = span.get("status")
        code = (
            status.get("code", status.get("status_code")) if isinstance(status, Mapping) else status
        )
        yield {
            "operation": said.get("gen_ai.operation.name") or _kind(said),
            "status": "error" if str(code) in FAILED else said.get("error.type", code),
            "arrival": _first(span, STARTS),
            "end": _first(span, ENDS),
            "prompt": _first(said, PROMPT),
            "output": _first(said, OUTPUT),
            "ttft": _first(said, FIRST),
        }


def _kind(said: Mapping[str, Any]) -> str:
    return str(said.get("openinference.span.kind") or "").lower()


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)


def _attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """What a span says of the model's call, by its names; nothing where it is no such span."""
    attributes = span.get("attributes", span.get("tags"))
    if isinstance(attributes, Mapping):
        said = dict(_flat(attributes))
    elif isinstance(attributes, list):
        pairs = [pair for pair in attributes if isinstance(pair, Mapping)]
        said = {str(pair.get("key")): _plain(pair.get("value")) for pair in pairs}
    else:
        return {}
    return said if any(name in said for name in (*PROMPT, *OUTPUT, "gen_ai.operation.name")) else {}


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield above + key, value


def _plain(value: Any) -> Any:
    """The protocol's `{"intValue": "12"}` as what it holds."""
    if isinstance(value, Mapping):
        return next(iter(value.values()), None)
    return value
