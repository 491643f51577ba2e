"""What the Memory Gantt page shows: the policy, the window, the rows, the pinned request."""

from __future__ import annotations

import numpy as np
import streamlit as st

from engine import Choice, InputError, Run, wording
from engine.figures.gantt import MOST_BARS
from engine.measure.timeline import residencies_within
from pages.parts.link import linked
from pages.parts.view import View

BAR_FIELDS = 7  # of a bar's customdata; points of other traces have fewer


def ask_policy(view: View) -> Choice:
    """The one policy to draw."""
    if not view.choices:
        raise InputError("Pick at least one policy in the sidebar.")
    by_key = {choice.key: choice for choice in view.choices}
    shown = st.segmented_control(
        "Policy",
        list(by_key),
        label_visibility="collapsed",
        required=True,
        **linked("shown", "svf" if "svf" in by_key else next(iter(by_key)), options=by_key),
    )
    return by_key[shown]


def ask_replica(run: Run) -> Run:
    """The run of one server; not asked where there is only one."""
    if len(run.parts) == 1:
        return run
    numbers = range(len(run.parts))
    shown = st.selectbox(
        "Server",
        numbers,
        format_func=lambda number: (
            f"{number + 1}: {wording.counted(len(run.parts[number].workload), 'request')}"
        ),
        width=240,
        **linked("server", 0, int, options=numbers),
    )
    return run.parts[shown]


def ask_window(run: Run) -> tuple[int, int] | None:
    """The rounds to draw; None for all."""
    last = int(run.finish.max())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        begin = st.number_input(
            "From round", 0, step=100, width=140, **linked("begin", 0, int, low=0)
        )
        end = st.number_input(
            "To round",
            1,
            value=None,
            step=100,
            placeholder="the end",
            width=140,
            **linked("end", None, int, low=1),
        )
        st.button("Whole run", on_click=_forget_window, icon=":material/fit_width:")
    end = last if end is None else min(end, last)
    if begin == 0 and end == last:
        return None
    if begin >= end:
        raise InputError(f"From round must be before to round (this run ends at {last:,}).")
    return begin, end


def _forget_window() -> None:
    st.session_state["begin"], st.session_state["end"] = 0, None


def ask_lines(run: Run, window: tuple[int, int] | None) -> bool:
    """Whether bars are packed into slots; not asked where there are too many to draw."""
    if len(residencies_within(run, window)) > MOST_BARS:
        st.caption(
            f"More than {MOST_BARS:,} bars: memory by size of request instead. A smaller window "
            "shows bars."
        )
        return False
    return st.toggle(
        "Pack bars into slots",
        help="Reuse the line of a request that has left. Off: one line a request, by start.",
        **linked("packed", False, bool),
    )


def pin_clicked() -> None:
    """Pin the request whose bar was clicked."""
    for point in st.session_state["memory-gantt"].selection.points:
        data = point.get("customdata")
        if isinstance(data, (list, tuple)) and len(data) == BAR_FIELDS:
            st.session_state["request"] = int(data[1])


def ask_request(run: Run) -> int | None:
    """The index of the pinned request in the run's workload, by click or by number."""
    row = st.number_input(
        "Request",
        0,
        value=None,
        step=1,
        placeholder="click a bar",
        help="Row of the request in the trace, from 0.",
        **linked("request", None, int, low=0),
    )
    if row is None:
        return None
    places = np.flatnonzero(run.workload.row == row)
    if not len(places):
        st.warning(f"Request {row} is not in this run: it does not exist or was set aside.")
        return None
    i = int(places[0])
    st.button("Zoom to it", icon=":material/zoom_in:", on_click=_zoom_to, args=(run, i))
    return i


def _zoom_to(run: Run, i: int) -> None:
    """Show the rounds from the request's arrival to its finish, and a little around."""
    arrival, finish = int(run.seen[i]), int(run.finish[i])
    around = max(10, (finish - int(run.start[i])) // 2)
    st.session_state["begin"] = max(0, max(arrival, int(run.start[i]) - 4 * around) - around)
    st.session_state["end"] = finish + around
