"""Which name of a file holds when requests arrived: by what it holds first, then by its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from engine.traces.clock import unit_in
from engine.traces.head import Head
from engine.traces.held import (
    DATES,
    NUMBERS,
    ODD_DATES,
    TEXT,
    WHOLE,
    held,
    is_numbering,
    only_grows,
    since_1970,
)  # fmt: skip
from engine.traces.names import endings, plain, word_set, words
from engine.traces.token_names import without_unit

PLAIN_CLOCK = (  # beyond doubt, on whatever clock
    "arrival", "arrived_at", "arrival_time", "arrival_timestamp", "arrival_offset",
    "request_start", "request_start_time",
)  # fmt: skip
KNOWN = (
    "request_time", "start_time", "started_at", "created_at", "created", "timestamp", "time",
    "datetime", "ts", "start", "t",
)  # fmt: skip
BEGINS = word_set(
    """arrival arrived arrive received receive request requested start started begin began submit
    submitted sent send queued enqueued created create issued dispatched incoming ingress entered
    query call"""
)
MOMENTS = word_set("time timestamp date datetime ts at when logged utc clock iso8601 msec epoch")
ENDS = word_set(
    """end ended finish finished complete completed completion response responded done last updated
    modified first token processed closed deleted chunk released ack"""
)
CLOCKS = word_set("arr offset rel relative since second seconds clock tick ticks")
LASTS = word_set(
    """latency duration elapsed ttft tpot itl e2e took delay wait waiting interval gap timeout
    processing throughput per rate spent overhead think gen generation prefill decode inference
    compute network total prompt predicted eval inter interarrival iat between delta"""
)
GAPS = word_set("inter interarrival iat gap delta")
OF_ANSWERS = word_set("token tokens tok chunk chunks itl word")
NGINX = ("time_local", "time_iso8601")  # when a request was logged, at its end
NEVER = word_set(
    """id ids key hash seed port expires expiry expired deadline due birth build version
    release cutoff model tokens"""
)


@dataclass(frozen=True)
class ArrivalName:
    """The name found.

    Attributes
    ----------
    name : as the file spells it
    is_end : whether it says when requests ended
    """

    name: str
    is_end: bool = False


def arrival_name(head: Head, taken: Collection[str] = ()) -> ArrivalName | None:
    """The name that holds arrivals best, none of those taken for something else; or None."""
    candidates = [
        (order, number, name)
        for number, name in enumerate(head.names)
        if name not in taken and (order := _order(head, name)) is not None
    ]
    if not candidates:
        return None
    name = min(candidates)[2]
    return ArrivalName(name, _meaning(name) == 3)


def _order(head: Head, name: str) -> tuple[int, int, int, int] | None:
    """How well a name holds arrivals, the least being best; None: it does not.

    Names beyond doubt, then moments of a calendar, then numbers on a clock of their own, then
    what looks like dates but cannot be read.
    """
    values = head.values(name)
    holds = held(values)
    calendar = holds == DATES or (holds in (WHOLE, NUMBERS) and since_1970(values, unit_in(name)))
    listed = _listed(name)
    if holds == TEXT and listed is not None and re.search(r"\d", str(values[0])):
        holds = ODD_DATES
    if holds not in (DATES, WHOLE, NUMBERS, ODD_DATES):
        return None
    if listed is not None and listed < len(PLAIN_CLOCK) and holds != ODD_DATES:
        return 0, 0, listed, 0
    said = set(words(name))
    meaning = _meaning(name)
    rank = len(KNOWN + PLAIN_CLOCK) if listed is None else listed
    depth = len(endings(name))
    if said & NEVER or (listed is None and said & LASTS):
        return None
    if calendar and (holds == DATES or meaning != 2 or not is_numbering(values)):
        return 1, meaning, rank, depth
    if holds == ODD_DATES and (listed is not None or meaning != 2):
        return 3, meaning, rank, depth
    is_named = listed is not None or (meaning < 2 and said & MOMENTS)
    if not is_named and holds in (WHOLE, NUMBERS) and grows_like_a_clock(head, name):
        return 4, meaning, rank, depth
    return (2, meaning, rank, depth) if is_named and holds in (WHOLE, NUMBERS) else None


def order_of(head: Head, name: str) -> int | None:
    """0 for a name beyond doubt to 4 for one that only grows; None for one that holds no time."""
    order = _order(head, name)
    return None if order is None else order[0]


def grows_like_a_clock(head: Head, name: str) -> bool:
    """Whether a name with a unit, or a word of clocks, holds numbers that only grow."""
    said = bool(unit_in(name)) or bool(set(words(name)) & CLOCKS)
    return said and _meaning(name) != 3 and only_grows(head.values(name))


def _listed(name: str) -> int | None:
    """The place of a name among the common ones, with or without a unit and wrappers."""
    common = [plain(common) for common in PLAIN_CLOCK + KNOWN]
    for ending in endings(name):
        for spelled in (ending, without_unit(ending)):
            if plain(spelled) in common:
                return common.index(plain(spelled))
    return None


def gaps_between(head: Head) -> str | None:
    """The name that holds the times from one arrival to the next, if any does: not to a token."""
    return next((name for name in head.names if set(words(endings(name)[-1])) & GAPS
                 and not set(words(name)) & OF_ANSWERS
                 and set(words(name)) & (BEGINS | GAPS)
                 and held(head.values(name)) in (WHOLE, NUMBERS)), None)  # fmt: skip


def is_of_nginx(head: Head) -> bool:
    """Whether a name says that a web server wrote a line when it had answered."""
    return any(endings(name)[-1] in NGINX for name in head.names)


def _meaning(name: str) -> int:
    """0: when requests began; 1: a moment; 2: it does not say; 3: when they ended."""
    said: Sequence[str] = words(endings(name)[-1])
    if set(said) & ENDS or endings(name)[-1] in NGINX:
        return 3
    if set(said) & BEGINS or _listed(name) is not None:
        return 0 if set(said) & BEGINS else 1
    return 1 if set(said) & MOMENTS else 2
