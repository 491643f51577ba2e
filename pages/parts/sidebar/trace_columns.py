"""Which column of an uploaded file is which, and its unit: found by names and by what columns
hold, to be corrected by the user."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.errors import InputError
from engine.traces.clock import PER_SECOND, unit_in
from engine.traces.formats import generic
from engine.traces.read import Glance, glance
from pages.parts.jobs import NothingYet
from pages.parts.link import linked
from pages.parts.store import uploads

ROLES = {
    "arrival": "Arrival",
    "prompt": "Prompt tokens",
    "output": "Output tokens",
    "class": "Class",
    "ttft": "Measured TTFT",
    "latency": "Measured latency",
}
NEEDED = ("prompt", "output")
SECONDS = "seconds"
DURATION_UNITS = (SECONDS, *(unit for unit in PER_SECOND if unit != "s"))
MOST = 200  # names in a list that can still be looked through


@dataclass(frozen=True)
class Picked:
    """What the user says of a file's columns; a key of caches.

    Attributes
    ----------
    roles : a name for each role that was set; none where the names say it all
    ignored : names that are not to be used
    duration_unit : of measured times whose names tell none
    """

    roles: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()
    duration_unit: str | None = None


def ask_columns(file) -> Picked:
    """What the user sets in place of what was found."""
    try:
        seen = uploads().get(("glance", file.digest, file.name), lambda: glance(file.opened()))
    except InputError:  # the reader says what is wrong
        return Picked()
    names = seen.names[:MOST]
    if not names:
        return Picked()
    with st.expander("Columns", icon=":material/view_column:", expanded=not seen.format):
        if seen.format:
            st.caption(f"Read as: {seen.format}. Pick a column where another is meant.")
        else:
            st.caption("No name says which columns hold the tokens: pick them.")
        picked = {role: _ask_column(seen, role, ["", *names]) for role in ROLES}
        ignored = st.multiselect(
            "Columns that are not used",
            names,
            help="A status, a time or a count that is misunderstood.",
            **linked("ignored", [], options=names),
        )
        duration_unit = _ask_duration_unit(seen, picked)
    missing = [role for role in NEEDED if not (picked[role] or seen.roles[role])]
    if missing and not seen.format:
        labels = " and ".join(ROLES[role].lower() for role in missing)
        raise NothingYet(
            f"{file.name} is of no known format, and no name in it says which column holds the "
            f"{labels}: pick it under Columns in the sidebar."
        )
    roles = tuple((role, name) for role, name in picked.items() if name)
    return Picked(roles, tuple(ignored), duration_unit)


def _ask_duration_unit(seen: Glance, picked: dict[str, str]) -> str | None:
    """The unit of measured times whose names tell none, where the user sets it."""
    if seen.format != generic.NAME and not any(picked.values()):
        return None
    names = [picked[role] or seen.roles[role] for role in ("ttft", "latency")]
    if all(not name or unit_in(name) for name in names):
        return None
    unit: str = st.selectbox(
        "Unit of measured times",
        DURATION_UNITS,
        help="No unit stands in their names: set it where latencies are plainly wrong.",
        **linked("duration_unit", SECONDS, options=DURATION_UNITS),
    )
    return None if unit == SECONDS else unit


def _ask_column(seen: Glance, role: str, choices: list[str]) -> str:
    """The column for a role; empty for what was found."""
    picked: str = st.selectbox(
        ROLES[role],
        choices,
        format_func=lambda name: name or _as_found(seen, role),
        **linked(f"map_{role}", "", options=choices),
    )
    return picked


def _as_found(seen: Glance, role: str) -> str:
    """What an empty choice means."""
    if seen.format and seen.format != generic.NAME:
        return "as this format has it"
    return f"{seen.roles[role]} (by its name)" if seen.roles[role] else "–"
