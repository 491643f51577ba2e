"""Any table or JSON whose names and values say what they are, or are mapped by the user.

Comma, semicolon, tab and bar, JSON in all its shapes (one list within an object
too, as exports of APIs have it), Parquet. Names are compared without case, spaces,
underscores and wrappers, and what they hold must be what they say (engine/traces/roles.py);
an ending such as _ms tells the unit. BLIS, Weka, gateways and access logs read like this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.traces.clock import PER_SECOND, unit_in
from engine.traces.columns import Kind, Labels, Measured, Perhaps, TokenColumn
from engine.traces.head import Head, head_of
from engine.traces.held import DURATIONS, held
from engine.traces.judged import checks, statistics, unfamiliar
from engine.traces.log import MOMENTS, ROLES, LogReading, arrival_kind, before_their_end, read_log
from engine.traces.names import endings, find_name, words
from engine.traces.objects import text_of
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.roles import APART, Roles, find_roles, is_a_row_a_day, time_apart
from engine.traces.rows import Field
from engine.traces.sums import PLUS, Sums

NAME = "table with named columns"
EXAMPLE = "start_time;prompt_tokens;completion_tokens\n2024-01-01 00:00:00;10;20\n"
DEEPEST = 3  # objects above the list of rows in a document
SLOWEST_TOKEN = 10.0  # seconds; a log whose half is slower is more likely in another unit
SET_UNIT = "is the unit right? --duration-unit sets another"
PERIODS = (60, 300, 600, 900, 1800, 3600, 86400, 604800)  # seconds that statistics are over
SCRAPES = (5, 10, 15, 30)  # seconds between two looks at a counter
FEW_STEPS = 3
TOTALS = "rows are totals, give a log with a row a request"
IDS = {"id", "request", "req", "generation", "completion", "response", "call"}
REPEATED = "{} {} stands in {} of the first rows: each row is taken for a request of its own"
MOSTLY = 0.5  # of the requests
LONGEST_PROMPT = 10_000_000  # tokens; more than any model takes


def matches(head: Head) -> bool:
    return _names_tokens(rows_head(head))


def likely_names(head: Head) -> dict[str, str | None]:
    """The name for each role, as far as names and values tell."""
    roles = find_roles(head)
    return {role: (roles.first(role) or "").split(PLUS)[0] or None for role in ROLES}


def rows_head(head: Head) -> Head:
    """The head of the rows: of those within, where a JSON document wraps one list of objects."""
    key = _wrapped(head)
    if key is None:
        return head
    rows = [row for row in _at(head.first, key) if isinstance(row, dict)]
    return head_of(rows[:200], head.shape)


def _wrapped(head: Head) -> tuple[str, ...] | None:
    """The keys to the only list of requests in a document that is no request itself."""
    if head.shape != "document" or _names_tokens(head):
        return None
    lists = [key for key, value in _lists(head.first) if value and isinstance(value[0], Mapping)]
    if len(lists) > 1:
        named = [key for key in lists if _names_tokens(head_of(_at(head.first, key)[:200], ""))]
        return named[0] if len(named) == 1 else None
    return lists[0] if lists else None


def _lists(value: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple]:
    for key, inner in value.items():
        if isinstance(inner, list):
            yield (*above, key), inner
        elif isinstance(inner, dict) and len(above) < DEEPEST:
            yield from _lists(inner, (*above, key))


def _at(document: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        document = document[key]
    return document


def _names_tokens(head: Head) -> bool:
    roles = find_roles(head)
    return bool(roles.names["prompt"] and roles.names["output"])


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    head, key = rows_head(opened.head), _wrapped(opened.head)
    head = without(head, reading.ignored)
    roles = find_roles(head, reading.columns)
    if apart := time_apart(head, roles.first("arrival") or ""):
        raise InputError(APART.format(roles.first("arrival"), apart))
    if "arrival" not in reading.columns and is_a_row_a_day(head, roles.first("arrival") or ""):
        raise InputError(f"{roles.first('arrival')} holds a day a row: {TOTALS}")
    for role in ("prompt", "output"):
        if not roles.names[role]:
            names = ", ".join(head.names)[:200]
            raise InputError(f"no name says which is the {role}: map one of {names}")
    used = {name for names in roles.names.values() for name in names}
    judged = checks(head, used)
    fields, notes = (
        [*reversed(judged)],
        [*roles.notes, *unfamiliar(head, judged), *statistics(head)],
    )
    for role, paths in roles.names.items():
        clock = role not in MOMENTS.values() or _same_clock(paths, roles.first("arrival"))
        if paths and clock:
            fields.append(Field(role, paths, _kind(head, role, roles, reading)))
        if paths and role in MOMENTS and not _says_unit(head, paths[0]):
            notes.append(f"{paths[0]} is read in {_in_words(reading.duration_unit or 's')}")
    within = None if key is None else (lambda document: _at(document, key))
    source = Sums(opened.rows(within, head.names))
    requests = read_log(source, fields, reading, notes=notes)
    requests = before_their_end(requests) if roles.ended else requests
    if roles.names["end"] and not roles.names["latency"] and _are_periods(requests.latency):
        raise InputError(f"all rows are equally long, as periods are: {TOTALS}")
    return requests.saying([*_repeated(head), *_doubts(requests, head, roles, reading)])


def _repeated(head: Head) -> list[str]:
    """A sentence where an id of requests stands in several rows, such as chunks of an answer."""
    for name in head.names:
        said, ids = set(words(endings(name)[-1])), [str(row.get(name)) for row in head.rows]
        if "id" in said and said <= IDS and 1 < len(set(ids)) < len(ids):
            often, times = Counter(ids).most_common(1)[0]
            return [REPEATED.format(name, text_of(often)[:40], times)]
    return []


def without(head: Head, names: Sequence[str]) -> Head:
    """The head as if it did not have these names; InputError for one that is not there."""
    paths = {_there(head, name) for name in names}
    return replace(head, names=tuple(name for name in head.names if name not in paths))


def _there(head: Head, wanted: str) -> str:
    name = wanted if wanted in head.names else find_name((wanted,), head.names)
    if name is None:
        raise InputError(f"there is no {wanted} to ignore; found: {', '.join(head.names)[:200]}")
    return name


def _says_unit(head: Head, name: str) -> bool:
    """Whether a duration's name or its values have a unit."""
    return bool(unit_in(name)) or held(head.values(name)) == DURATIONS


def _are_periods(latency: np.ndarray | None) -> bool:
    """Whether all requests took exactly a minute, an hour, a day .."""
    if latency is None or len(latency) < 2:
        return False
    return bool((latency == latency[0]).all()) and float(latency[0]) in PERIODS


def _in_words(unit: str) -> str:
    return {"s": "seconds"}.get(unit, unit)


def _kind(head: Head, role: str, roles: Roles, reading: LogReading) -> Kind:
    if role in ("prompt", "output"):
        return TokenColumn()
    if role == "class":
        return Labels()
    if role in MOMENTS:
        unit = unit_in(roles.names[role][0]) or reading.duration_unit or "s"
        return Measured(1 / PER_SECOND[unit])
    if role == "arrival":
        values = head.values(roles.names[role][0])
        return arrival_kind(values[0] if values else None)
    return Perhaps(_kind(head, "arrival", roles, reading))


def _same_clock(names: tuple[str, ...], arrival: str | None) -> bool:
    return bool(names) and arrival is not None and unit_in(names[0]) == unit_in(arrival)


def _doubts(requests: TraceRequests, head: Head, roles: Roles, reading: LogReading) -> list[str]:
    """Sentences on what can hardly be so: durations beyond belief, prompts beyond any model."""
    doubts = []
    for role in MOMENTS:
        name, seconds = roles.first(role), getattr(requests, role)
        if name and seconds is not None and not (_says_unit(head, name) or reading.duration_unit):
            doubts += _duration_doubts(name, role, seconds, requests)
    if (step := _even_step(requests.seconds)) is not None:
        doubts.append(f"a row comes every {step:g} s: is it one request, and not a total?")
    largest = int(requests.prompt.max())
    if largest > LONGEST_PROMPT:
        doubts.append(f"a prompt has {largest:,} tokens: is a row one request, and not a total?")
    return doubts


def _even_step(seconds: np.ndarray) -> float | None:
    """The time between rows, where it is always the same and one that statistics are over."""
    gaps = np.diff(seconds)
    if len(gaps) < FEW_STEPS or not np.allclose(gaps, gaps[0], rtol=0, atol=1e-6):
        return None
    return next((step for step in (*SCRAPES, *PERIODS) if abs(gaps[0] - step) < 1e-6), None)


def _duration_doubts(
    name: str, role: str, seconds: np.ndarray, requests: TraceRequests
) -> list[str]:
    measured = np.isfinite(seconds)
    middle = float(np.median(seconds[measured]))
    span = float(np.ptp(requests.seconds))
    tokens = requests.output if role == "latency" else requests.prompt
    a_token = float(np.median(seconds[measured] / tokens[measured]))
    whole = requests.latency if role == "ttft" else None
    if len(requests) > 1 and 0 < span < middle:
        why = f"longer than the whole log, {span:,.4g} s"
    elif a_token > SLOWEST_TOKEN:
        why = f"{a_token:,.4g} s a token"
    elif whole is not None and (seconds > whole).mean() > MOSTLY:
        return [f"{name} is mostly longer than the whole latency: {SET_UNIT}"]
    else:
        return []
    return [f"{name}: half of them take {middle:,.4g} s or more, {why}: {SET_UNIT}"]
