"""The frame of every page: browser title, navigation, sidebar, and bad input shown in one place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from engine import InputError
from engine.compiled import announced
from pages.parts import link
from pages.parts.allowed import follow_mode
from pages.parts.declared import declared_pages
from pages.parts.departed import notice
from pages.parts.jobs import NothingYet, work_off
from pages.parts.keep_row import keep_row
from pages.parts.kept import follow_secrets
from pages.parts.literal import literal
from pages.parts.settled import settle
from pages.parts.sidebar.ask import ask
from pages.parts.turns import turns
from pages.parts.view import View

ICON = str(Path(__file__).with_name("icon.png"))


def _navigation() -> None:
    """Links that carry the whole view to the other pages."""
    address = link.address()
    for declared in declared_pages():
        st.page_link(
            declared.path,
            label=declared.title,
            icon=declared.icon,
            help=declared.question,
            query_params=address,
        )


def _note(slot) -> Callable[[], None]:
    """Says in `slot` that kernels are compiled, but not where another visitor's are."""
    visitor = threading.get_ident()

    def tell() -> None:
        if threading.get_ident() == visitor:
            slot.info(
                "Compiling the engine: the first start takes some seconds, later ones do not.",
                icon=":material/memory:",
            )

    return tell


def page(name: str, draw: Callable[[View], None], *, icon: str, question: str) -> None:
    """Draw the frame and in it the page; bad input becomes a message that says the fix.

    Parameters
    ----------
    name : the title
    draw : draws what the sidebar describes
    icon, question : as in `Page`: read from the page's file (declared.py) for the navigation
    """
    notice()
    with turns().turn():
        working = _drawn(name, draw)
    settle()
    work_off(working)


def _drawn(name: str, draw: Callable[[View], None]):
    """Draw frame and page; the place at the top where work under way is shown."""
    st.set_page_config(page_title=f"{name} · Headroom", page_icon=ICON, layout="wide")
    follow_mode()
    follow_secrets()
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
        if refusals := link.refused_in_words():
            refused.info(refusals, icon=":material/link_off:")
        with navigation:
            _navigation()
    if complete:
        with st.sidebar:
            keep_row(name, view)
    return working
