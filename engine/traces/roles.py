"""Which name of a file holds what: prompt and output, arrivals, class, measured times.

By its words, and by what it holds; a choice that could be another is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.errors import InputError
from engine.traces.arrival_names import (
    ArrivalName,
    arrival_name,
    gaps_between,
    is_of_nginx,
    order_of,
)
from engine.traces.further_tokens import further_output, further_prompt, note
from engine.traces.head import Head
from engine.traces.held import FLAGS, LISTS, OBJECTS, TEXT, held, is_numbering, only_grows
from engine.traces.log import ROLES
from engine.traces.names import endings, find_name, plain, words
from engine.traces.sums import PLUS, summands
from engine.traces.token_names import TokenNames, token_names, without_unit

KNOWN = {  # common names, the most telling first; compared as `plain` names
    "class": "class request_class slo_class workload category",
    "ttft": "ttft time_to_first_token",
    "latency": """latency e2e_latency e2el end_to_end_latency request_latency elapsed_time
        response_time total_time duration request_duration generation_time""",
    "first_token": """first_token_time first_token_at first_chunk_time completion_start_time
        first_token""",
    "end": """end_time ended_at finish_time finished_at completed_at completion_time
        last_chunk_time request_end_time request_end end end_time_unix""",
}
NO_MEASURE = (TEXT, FLAGS, OBJECTS, LISTS)
ENDED = "{} is when requests ended: they arrive here as long before as {} says"
ENDED_LATE = "{} is when requests ended: no latency says how long before they arrived"
GUESSED = "{} is taken for the arrivals, because it only grows: map another if it is not"
GROWS = "{} only grows: map arrival={} if it is a time"
APART = "{} and {} hold day and time apart: join them in one column"
GAPS = "{} holds the times between arrivals, which are not read: give their sums"
DAYS = "{} holds days without a time of day: a row may be the total of a day"


@dataclass(frozen=True)
class Roles:
    """Names for the roles of engine.traces.log.ROLES.

    Attributes
    ----------
    names : alternatives for a role, which may be sums; none where nothing is found
    notes : sentences on what was a choice
    tokens : how prompt and output were found
    ended : whether the arrivals' name says when requests ended
    """

    names: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()
    tokens: TokenNames = field(default_factory=TokenNames)
    ended: bool = False

    def first(self, role: str) -> str | None:
        return self.names[role][0] if self.names.get(role) else None


def find_roles(head: Head, mapped: Mapping[str, str] | None = None) -> Roles:
    """The names for each role; those that the user mapped are taken as they are.

    Raises
    ------
    InputError
        For a mapped name that is not there.
    """
    wanted = {role: _mapped(head, role, name) for role, name in (mapped or {}).items()}
    tokens = token_names(head)
    names: dict[str, tuple[str, ...]] = {role: () for role in ROLES}
    names |= {role: (name,) for role, name in wanted.items()}
    notes = list(tokens.notes) if not {"prompt", "output"} & set(wanted) else []
    for role, names_of in (("prompt", tokens.prompt), ("output", tokens.output)):
        names[role] = names[role] or names_of
    if "prompt" not in wanted and names["prompt"]:
        names["prompt"] = _with_further(head, "prompt", names, notes)
    if "output" not in wanted and names["output"]:
        names["output"] = _with_further(head, "output", names, notes)
    for role in KNOWN:
        if not names[role] and (known := _known(head, role)):
            names[role] = (known,)
    if not names["latency"] and is_of_nginx(head) and (lasted := _ending(head, "request_time")):
        names["latency"] = (lasted,)
    ended = False
    if not names["arrival"]:
        taken = {name for role in ("prompt", "output", "ttft", "latency") for name in names[role]}
        found_arrival = arrival_name(head, taken)
        if found_arrival is not None:
            names["arrival"], ended = (found_arrival.name,), found_arrival.is_end
            notes += _arrival_notes(head, found_arrival, names["latency"])
        elif gaps := gaps_between(head):
            notes.append(GAPS.format(gaps))
        else:
            notes += [GROWS.format(name, name) for name in _growing(head, taken)[:1]]
    if names["arrival"] == names["end"]:
        names["end"] = ()
    return Roles(names, tuple(notes), tokens, ended)


def _ending(head: Head, wanted: str) -> str | None:
    """The name that is this, in whatever wrapper."""
    return next((name for name in head.names if endings(name)[-1] == wanted), None)


def _with_further(head: Head, role: str, names: Mapping, notes: list[str]) -> tuple[str, ...]:
    """The names of a role with what comes on top of each."""
    summed = []
    prompts = [summands(name, head.names)[0] for name in names["prompt"]] or [""]
    outputs = [summands(name, head.names)[0] for name in names["output"]] or [""]
    for number, name in enumerate(names[role]):
        if role == "prompt":
            further = further_prompt(head, name, outputs[min(number, len(outputs) - 1)])
        else:
            further = further_output(head, prompts[min(number, len(prompts) - 1)], name)
        further = tuple(extra for extra in further if _beside(extra, name))
        summed.append(PLUS.join((name, *further)))
        if further:
            notes.append(note(role, name, further))
    return tuple(summed)


def _beside(name: str, other: str) -> bool:
    """Whether a count stands beside another or below it, not under a wrapper of its own."""
    above = other[: len(other) - len(endings(other)[-1])]
    return name.startswith(above) or not above or "." not in above.rstrip(".")


def _arrival_notes(head: Head, arrival: ArrivalName, latency: tuple[str, ...]) -> list[str]:
    notes = []
    if arrival.is_end and latency:
        notes.append(ENDED.format(arrival.name, latency[0]))
    elif arrival.is_end:
        notes.append(ENDED_LATE.format(arrival.name))
    if _is_guess(head, arrival.name):
        notes.append(GUESSED.format(arrival.name))
    if (days := _days(head, arrival.name)) and len(days) > 1:
        notes.append(DAYS.format(arrival.name))
    return notes


def _is_guess(head: Head, name: str) -> bool:
    """Whether only a unit and that it grows speak for a name."""
    return order_of(head, name) == 4


def _days(head: Head, name: str) -> list[str]:
    """What the first rows hold, where that is days without a time of day."""
    values = [str(value).strip() for value in head.values(name)]
    return values if all(re.match(r"^\d{4}-\d\d-\d\d$", value) for value in values) else []


def _growing(head: Head, taken: set[str]) -> list[str]:
    """Names of numbers that only grow and have no role; those that number the rows left out."""
    left = (name for name in head.names if name not in taken)
    return [name for name in left if only_grows(values := head.values(name))
            and not is_numbering(values) and "id" not in words(name)]  # fmt: skip


def time_apart(head: Head, arrival: str) -> str | None:
    """The column with the times of day, where that of the arrivals holds days only."""
    if not _days(head, arrival):
        return None
    return next((name for name in head.names if _are_times_of_day(head.values(name))), None)


def _are_times_of_day(values: list) -> bool:
    return bool(values) and all(re.match(r"^\d\d?:\d\d", str(value)) for value in values)


def is_a_row_a_day(head: Head, arrival: str) -> bool:
    """Whether each row is another day, in a column that is called so: rows are totals then."""
    days = _days(head, arrival)
    named = bool({"date", "day"} & set(words(arrival)))
    return named and len(days) > 1 and len(set(days)) == len(days)


def _mapped(head: Head, role: str, wanted: str) -> str:
    """The file's name that the user gave a role; several for tokens may be added, as a+b."""
    if wanted in head.names:
        return wanted
    if name := find_name((wanted,), head.names):
        return name
    parts = summands(wanted, head.names) if role in ("prompt", "output") else []
    columns = [part if part in head.names else find_name((part,), head.names) for part in parts]
    if len(columns) > 1 and all(columns):
        return PLUS.join(name for name in columns if name)
    there = " ".join(", ".join(head.names).split())[:200]
    raise InputError(f"there is no {wanted} to be the {role}; found: {there}")


def _known(head: Head, role: str) -> str | None:
    """The file's most telling name for a role, with or without wrappers and a unit at its end."""
    spellings: dict[str, str] = {}
    for name in sorted(head.names, key=lambda name: len(endings(name))):
        for ending in endings(name):
            for spelled in (ending, without_unit(ending)):
                spellings.setdefault(plain(spelled), name)
    for common in map(plain, KNOWN[role].split()):
        column = spellings.get(common)
        if column and (role == "class" or held(head.values(column)) not in NO_MEASURE):
            return column
    return None
