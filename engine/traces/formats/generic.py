"""Any table or JSON whose names say what they are, or are mapped by the user.

Comma, semicolon, tab and bar, JSON in all its shapes (one list within an object
too, as exports of APIs have it), Parquet. Names are
compared without case, spaces and underscores; an ending such as _ms tells the
unit. BLIS, Weka, gateways and access logs read like this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.errors import InputError
from engine.traces.clock import PER_SECOND, unit_in
from engine.traces.columns import (
    Kind,
    Labels,
    Measured,
    Perhaps,
    TokenColumn,
    no_error,
    no_failure,
)
from engine.traces.head import Head, paths
from engine.traces.log import MOMENTS, ROLES, LogReading, arrival_kind, read_log
from engine.traces.names import find_name, plain
from engine.traces.objects import value_at
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "table with named columns"
EXAMPLE = "start_time;prompt_tokens;completion_tokens\n2024-01-01 00:00:00;10;20\n"

# Common names, the most telling first; compared as `plain` names.
NAMES = {
    "arrival": """arrival arrived_at arrival_time arrival_timestamp arrival_offset request_start
        request_start_time request_time start_time started_at created_at created timestamp time
        datetime ts start t""",
    "prompt": """prompt_tokens input_tokens num_prompt_tokens num_input_tokens number_input_tokens
        prompt_length input_length prompt_len input_len prompt_size num_prefill_tokens
        prefill_tokens context_tokens request_tokens input_sequence_length isl input_toks
        usage.prompt_tokens usage.input_tokens gen_ai.usage.input_tokens prompt input in""",
    "output": """output_tokens completion_tokens num_output_tokens number_output_tokens
        generated_tokens response_tokens output_length output_len completion_length
        response_length token_size num_decode_tokens decode_tokens output_sequence_length osl
        output_toks usage.completion_tokens usage.output_tokens gen_ai.usage.output_tokens
        output out""",
    "class": "class request_class slo_class workload category",
    "ttft": "ttft time_to_first_token",
    "latency": "latency e2e_latency e2el end_to_end_latency request_latency elapsed_time",
    "first_token": """first_token_time first_token_at first_chunk_time completion_start_time
        first_token""",
    "end": """end_time ended_at finish_time finished_at completed_at completion_time
        last_chunk_time request_end_time request_end end""",
}
ERRORS = ("error", "error_code", "error_message")


def matches(head: Head) -> bool:
    return _names_tokens(rows_head(head))


def likely_names(head: Head) -> dict[str, str | None]:
    """The name for each role, as far as names tell."""
    return {role: _find(head, role) for role in ROLES}


def rows_head(head: Head) -> Head:
    """The head of the rows: of those within, where a JSON document wraps one list of objects."""
    key = _wrapped(head)
    if key is None:
        return head
    first = head.first[key][0]
    return Head("objects", tuple(paths(first)), first, head.shape)


def _wrapped(head: Head) -> str | None:
    """The key under which a document that is no request itself has its only list of objects."""
    if head.shape != "document" or _names_tokens(head):
        return None
    lists = [
        key
        for key, value in head.first.items()
        if isinstance(value, list) and value and isinstance(value[0], Mapping)
    ]
    return lists[0] if len(lists) == 1 else None


def _names_tokens(head: Head) -> bool:
    return bool(_find(head, "prompt") and _find(head, "output"))


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    head, key = rows_head(opened.head), _wrapped(opened.head)
    names_of = {
        role: _mapped(head, role, reading) or name for role, name in likely_names(head).items()
    }
    for role in ("prompt", "output"):
        if not names_of[role]:
            names = ", ".join(head.names)[:200]
            raise InputError(f"no name says which is the {role}: map one of {names}")
    fields, notes = [], []
    for role, name in names_of.items():
        if name and (role not in MOMENTS.values() or _same_clock(name, names_of["arrival"])):
            fields.append(Field(role, (name,), _kind(head, role, name, names_of)))
        if name and role in ("ttft", "latency") and not unit_in(name):
            notes.append(f"{name} is read in seconds")
    checks = [("status", no_failure()), *((name, no_error()) for name in ERRORS)]
    for name, kind in checks:
        if spelled := find_name((name,), head.names):
            fields.insert(0, Field(f"not {name}", (spelled,), kind))
    within = None if key is None else (lambda document: document[key])
    return read_log(opened.rows(within, head.names), fields, reading, notes=notes)


def _mapped(head: Head, role: str, reading: LogReading) -> str | None:
    """The file's name that the user gave a role."""
    if role not in reading.columns:
        return None
    wanted = reading.columns[role]
    if wanted in head.names:
        return wanted
    if name := find_name((wanted,), head.names):
        return name
    there = " ".join(", ".join(head.names).split())[:200]
    raise InputError(f"there is no {wanted} to be the {role}; found: {there}")


def _find(head: Head, role: str) -> str | None:
    """The file's most telling name for a role, with or without a unit at its end."""
    bare = {plain(_without_unit(name)): name for name in reversed(head.names)}
    whole = {plain(name): name for name in reversed(head.names)}
    for common in map(plain, NAMES[role].split()):
        if name := whole.get(common) or bare.get(common):
            return name
    return None


def _without_unit(name: str) -> str:
    ending = r"([\W_]+|(?<=[a-z])(?=[A-Z]))[A-Za-zµ]+\W*$"
    return re.sub(ending, "", name) if unit_in(name) else name


def _kind(head: Head, role: str, name: str, names_of: Mapping[str, str | None]) -> Kind:
    if role in ("prompt", "output"):
        return TokenColumn()
    if role == "class":
        return Labels()
    if role in ("ttft", "latency"):
        return Measured(1 / PER_SECOND[unit_in(name) or "s"])
    if role == "arrival":
        return arrival_kind(value_at(head.first, name.split(".")))
    return Perhaps(_kind(head, "arrival", names_of["arrival"] or name, names_of))


def _same_clock(name: str, arrival: str | None) -> bool:
    return arrival is not None and unit_in(name) == unit_in(arrival)
