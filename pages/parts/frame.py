"""The frame of every page: browser title, navigation, sidebar, and bad input shown in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from engine import InputError
from pages.parts.jobs import work_off
from pages.parts.sidebar import ask
from pages.parts.view import View

PAGES = {
    "app.py": ("Compare", ":material/leaderboard:", "Which policy, and how far from optimal?"),
    "pages/1_Memory_Gantt.py": (
        "Memory Gantt",
        ":material/view_timeline:",
        "Who held which memory when, and why did a request wait?",
    ),
    "pages/2_Latency.py": ("Latency", ":material/ssid_chart:", "Who waits how long?"),
    "pages/3_Gap_to_Bound.py": (
        "Gap to bound",
        ":material/vertical_align_bottom:",
        "How far is each policy from the best possible?",
    ),
    "pages/9_About.py": ("About", ":material/info:", "The model, the policies, the sources."),
}


def _navigation() -> None:
    for path, (label, icon, purpose) in PAGES.items():
        st.sidebar.page_link(path, label=label, icon=icon, help=purpose)
    st.sidebar.divider()


@contextmanager
def page(name: str) -> Iterator[View]:
    """Draw the frame, hand over the view, and turn bad input into a message that says the fix."""
    st.set_page_config(
        page_title=f"{name} · Headroom", page_icon=":material/memory:", layout="wide"
    )
    st.sidebar.markdown("### :material/memory: Headroom")
    _navigation()
    working = st.empty()
    try:
        yield ask()
        work_off(working)
    except InputError as problem:
        st.error(str(problem), icon=":material/edit:")
