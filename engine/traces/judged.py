"""Which columns tell that a row is no request that was served: it failed, or it is a total.

They are found by their words and by what they hold, whatever wrapper they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from engine.traces.columns import Check, no_error, no_failure, succeeded
from engine.traces.head import Head
from engine.traces.held import FLAGS, LISTS, NOTHING, OBJECTS, TEXT, WHOLE, held, numbers
from engine.traces.names import endings, word_set, words
from engine.traces.rows import Field

STATUS = {"status", "state", "outcome", "code", "level", "result", "verdict", "disposition"}
TELLING = {"status", "outcome"}  # whatever else the name says
BESIDE_STATUS = STATUS | word_set(
    "http response request final grpc api call job run server upstream signature"
)
REASONS = ({"finish", "reason"}, {"stop", "reason"}, {"finish", "reason", "raw"})
ERRORS = {"error", "errors", "err", "exception", "failure"}
BESIDE_ERRORS = ERRORS | word_set(
    """code message msg type text reason detail details info name class body response request api
    is has was had flag status description llm server"""
)
BROKEN_OFF = word_set(
    """cancelled canceled aborted failed errored timedout rejected dropped shed timeout refused
    throttled"""
)
GOOD = word_set("success succeeded successful ok succeed completed complete done finished")
BESIDE_FLAGS = {"is", "was", "request", "has"}
COUNTED = {"requests", "calls", "invocations", "queries", "generations", "hits"}
COUNTED_ONE = {"request", "call", "invocation", "query"}
NUMBER = {"num", "number", "n", "count", "counts", "cnt", "nb"}
BESIDE_COUNTED = COUNTED | COUNTED_ONE | NUMBER | {"of", "total", "model", "api", "llm", "sum"}
FROM_A_CACHE = ({"cached"}, {"is", "cached"}, {"cache", "hit"}, {"from", "cache"})  # whole answers
FREQUENCY = word_set("count cnt frequency freq occurrences multiplicity")
TOTAL = "1: the row is the total of several requests"
AVERAGED = word_set("mean avg average median std stddev p50 p75 p90 p95 p99 p999 percentile")
OF_REQUESTS = word_set("ttft e2e e2el latency duration elapsed")
KINDS = (
    {"type"}, {"run", "type"}, {"observation", "type"}, {"span", "kind"},
    {"openinference", "span", "kind"},
)  # fmt: skip
MODEL_CALLS = r"^(llm|generation|chat|completion|chat_model|text_completion|generate_content)$"
SUCCESS = (
    r"^(|ok|okay|success|succeeded|successful|completed?|done|finish(ed)?|served|pass(ed)?"
    r"|processed|normal|default|info|debug|warning|none|null|unset|stop|length|eos|eos_token"
    r"|stop_sequence|end_turn|max_tokens|tool_use|tool_calls|function_call|true|yes|\d+"
    r"|(https?/?[\d.]* )?2\d\d( .*)?)$"
)
FEW = 5  # different values of a status: more are no statuses


def checks(head: Head, taken: Collection[str] = ()) -> list[Field]:
    """Fields without a value, for every column that can tell that a row is no served request."""
    verdicts = [(name, _check(name, head.values(name))) for name in head.names if name not in taken]
    return [Field(f"not {name}", (name,), check) for name, check in verdicts if check is not None]


def _check(name: str, values: Sequence[Any]) -> Check | None:
    said, holds = set(words(endings(name)[-1])), held(values)
    if said & ERRORS and said <= BESIDE_ERRORS:
        return no_error() if holds in (TEXT, FLAGS, WHOLE, NOTHING, OBJECTS, LISTS) else None
    if said & BROKEN_OFF and said <= BROKEN_OFF | BESIDE_FLAGS:
        setting = "timeout" in said and holds != FLAGS
        return no_error() if values and all(map(_is_flag, values)) and not setting else None
    if said & GOOD and said <= GOOD | BESIDE_FLAGS:
        return succeeded() if values and all(map(_is_flag, values)) else None
    is_status = bool(said & TELLING) or (said & STATUS and said <= BESIDE_STATUS)
    if said in REASONS or is_status or ("code" in said and _are_http(values)):
        return no_failure() if holds in (TEXT, WHOLE, FLAGS) else None
    if said in FROM_A_CACHE and values and all(map(_is_flag, values)):
        need = "false: a cache answered, and no model"
        return Check(r"^(true|yes|t|1(\.0)?)$", need, matches=False)
    if said and said <= FREQUENCY:
        return Check(r"^(1(\.0*)?|)$", TOTAL) if holds == WHOLE else None
    if said <= BESIDE_COUNTED and (said & COUNTED or (said & COUNTED_ONE and said & NUMBER)):
        return Check(r"^(1(\.0*)?|)$", TOTAL) if holds == WHOLE else None
    if said in KINDS and any(re.match(MODEL_CALLS, str(value), re.I) for value in values):
        return Check(MODEL_CALLS, "that of a model's call")
    return None


def statistics(head: Head) -> Iterator[str]:
    """A sentence on a name that says its rows are summaries of many requests."""
    for name in head.names:
        said = set(words(endings(name)[-1]))
        if said & AVERAGED and said & OF_REQUESTS and numbers(head.values(name)):
            yield f"{name} is a statistic of many requests: is a row one request, and no summary?"
            return


def _are_http(values: Sequence[Any]) -> bool:
    codes = numbers(values)
    return len(codes) == len(values) > 0 and all(100 <= value < 600 for value in codes)


def _is_flag(value: Any) -> bool:
    return re.match(r"^(true|false|yes|no|[01](\.0)?|t|f)$", str(value), re.I) is not None


def unfamiliar(head: Head, fields: Sequence[Field]) -> Iterator[str]:
    """Sentences on status values that count as successes, though no word of theirs says so."""
    for field in fields:
        if not field.kind.need.startswith("that of a success") or not field.names[0]:
            continue
        column = pa.array(sorted({str(value).strip() for value in head.values(field.names[0])}))
        if not len(column) or any(map(_is_flag, column.to_pylist())):
            continue
        _, kept = field.kind(column.cast(pa.string()))
        values = [value for value, good in zip(column.to_pylist(), kept, strict=True) if good]
        odd = [value for value in values if not re.match(SUCCESS, value, re.I)]
        odd = [value for value in odd if not numbers([value])]
        if len(odd) < len(column) <= FEW and odd:
            yield f"{field.names[0]} {', '.join(odd)[:80]} is taken for a success"
