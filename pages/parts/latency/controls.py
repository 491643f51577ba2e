"""What the Latency page shows: which time, of which requests, on which axis."""

from __future__ import annotations

import streamlit as st

from engine.measure.times import REQUEST_TIMES, RequestTime, request_time
from pages.parts.link import linked
from pages.parts.literal import literal
from pages.parts.view import View

ALL = "all"


def ask_time() -> RequestTime:
    """Which of the times is shown."""
    titles = [time.title for time in REQUEST_TIMES]
    return request_time(
        st.segmented_control(
            "Time", titles, required=True, **linked("quantity", titles[0], options=titles)
        )
    )


def ask_class(view: View) -> str | None:
    """A class that has requests, or None for all of them."""
    present = set(view.workload.class_of.tolist())
    names = [name for number, name in enumerate(view.workload.classes) if number in present]
    if len(names) < 2:
        return None
    names = [ALL, *names]
    picked = st.segmented_control(
        "Requests",
        names,
        format_func=literal,
        required=True,
        **linked("class", ALL, options=names),
    )
    return None if picked == ALL else picked


def ask_log() -> bool:
    return st.toggle("Logarithmic time", **linked("log", False, bool))
