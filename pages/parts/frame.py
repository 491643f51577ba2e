"""The frame of every page: browser title, navigation, sidebar, and bad input shown in one place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from engine import InputError
from engine.compiled import announced
from pages.parts import link
from pages.parts.jobs import NothingYet, work_off
from pages.parts.literal import literal
from pages.parts.saved_row import keep_row
from pages.parts.sidebar import ask
from pages.parts.view import View

ICON = str(Path(__file__).with_name("icon.png"))
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
    "pages/4_Capacity.py": (
        "Capacity",
        ":material/dns:",
        "How much is carried, how many servers does a load take, and at what price?",
    ),
    "pages/5_Saved.py": (
        "Saved",
        ":material/bookmarks:",
        "What was kept, and what did a change do?",
    ),
    "pages/6_Uncertainty.py": (
        "Uncertainty",
        ":material/casino:",
        "What do wrong predictions of output lengths cost, and what margin helps?",
    ),
    "pages/7_Trace_Audit.py": (
        "Trace audit",
        ":material/fact_check:",
        "How far was a day from the best possible, and when?",
    ),
    "pages/8_Learn.py": (
        "Learn",
        ":material/school:",
        "Why is one order better than another? Lessons to step through, and a game.",
    ),
    "pages/9_About.py": ("About", ":material/info:", "The model, the policies, the sources."),
}


def _navigation() -> None:
    """Links that carry the whole view to the other pages."""
    for path, (label, icon, purpose) in PAGES.items():
        st.page_link(path, label=label, icon=icon, help=purpose, query_params=link.address())


def _note(slot) -> Callable[[], None]:
    """Says in `slot` that kernels are compiled, but not where another visitor's are."""
    mine = threading.get_ident()

    def tell() -> None:
        if threading.get_ident() == mine:
            slot.info(
                "Compiling the engine: the first start takes some seconds, later ones do not.",
                icon=":material/memory:",
            )

    return tell


def page(name: str, draw: Callable[[View], None]) -> None:
    """Draw the frame and in it the page; bad input becomes a message that says the fix."""
    st.set_page_config(page_title=f"{name} · Headroom", page_icon=ICON, layout="wide")
    link.follow(name)
    with st.sidebar:
        st.markdown("### :material/memory: Headroom")
        navigation = st.container()
        st.divider()
    working, refused, compiling = st.empty(), st.empty(), st.empty()
    complete = False
    try:
        with announced(_note(compiling)):
            with st.sidebar:
                view = ask()
            draw(view)
        complete = True
    except NothingYet as hint:
        if str(hint):
            st.info(literal(hint))
    except InputError as problem:
        st.error(literal(problem), icon=":material/edit:")
    finally:
        compiling.empty()
        link.publish(complete)
        if told := link.refused_in_words():
            refused.info(told, icon=":material/link_off:")
        with navigation:
            _navigation()
    if complete:
        with st.sidebar:
            keep_row(name, view)
    work_off(working)
