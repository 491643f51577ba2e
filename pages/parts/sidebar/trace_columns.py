"""Which column of an uploaded file is which, and its unit: found by names and by what columns
hold, to be corrected by the user."""

from __future__ import annotations

import streamlit as st

from engine.errors import InputError
from engine.traces.clock import PER_SECOND, unit_in
from engine.traces.formats import generic
from engine.traces.read import Glance, glance
from pages.parts.jobs import NothingYet
from pages.parts.link import linked

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


def ask_columns(file) -> tuple[tuple[str, str], ...]:
    """The roles and names that the user set; none where the names say it all."""
    try:
        seen = _glance(file.digest, file.name, file)
    except InputError:  # the reader says what is wrong
        return ()
    names = seen.names[:MOST]
    if not names:
        return ()
    with st.expander("Columns", icon=":material/view_column:", expanded=not seen.format):
        if seen.format:
            st.caption(f"Read as: {seen.format}. Pick a column where another is meant.")
        else:
            st.caption("No name says which columns hold the tokens: pick them.")
        picked = {role: _ask_column(seen, role, ["", *names]) for role in ROLES}
    missing = [role for role in NEEDED if not (picked[role] or seen.roles[role])]
    if missing and not seen.format:
        labels = " and ".join(ROLES[role].lower() for role in missing)
        raise NothingYet(
            f"{file.name} is of no known format, and no name in it says which column holds the "
            f"{labels}: pick it under Columns in the sidebar."
        )
    return tuple((role, name) for role, name in picked.items() if name)


def ask_duration_unit(file, columns: tuple[tuple[str, str], ...]) -> str | None:
    """The unit of measured times whose names tell none, where the user sets it."""
    try:
        seen = _glance(file.digest, file.name, file)
    except InputError:
        return None
    if not columns and seen.format != generic.NAME:
        return None
    names = {role: dict(columns).get(role) or seen.roles[role] for role in ("ttft", "latency")}
    if all(not name or unit_in(name) for name in names.values()):
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


@st.cache_resource(max_entries=8, show_spinner="Looking at the file")
def _glance(_digest: bytes, name: str, _file) -> Glance:
    return glance(_file.opened())
