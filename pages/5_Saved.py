"""Saved: views that were kept, to open again and to compare."""

import streamlit as st

from engine.machine.own_presets import listed
from pages.parts.frame import page
from pages.parts.kept import keeping
from pages.parts.saved.compare import tell_comparison
from pages.parts.saved.from_file import ask_import
from pages.parts.saved.list import headline, tell_list, tell_one
from pages.parts.saved.presets import tell_presets
from pages.parts.saved.unreadable import tell_unreadable
from pages.parts.saved.whose import tell_of_others, tell_who_sees
from pages.parts.view import View


def draw(view: View) -> None:
    """All of them, one of them, two of them."""
    views, unreadable = keeping().listed()
    presets, odd = listed()
    st.markdown(f"# {headline(views, unreadable)}")
    tell_who_sees()
    tell_of_others(views)
    if views:
        tell_list(views)
        tell_one(views)
        tell_comparison(views)
    elif not unreadable:
        st.caption("“Save or export” in the sidebar keeps what any page shows, with its results.")
    tell_presets(presets)
    tell_unreadable(unreadable, odd)
    st.markdown("## From a file")
    ask_import()


page(
    "Saved",
    draw,
    icon=":material/bookmarks:",
    question="What was kept, and what did a change do?",
)
