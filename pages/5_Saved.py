"""Saved: views that were kept, to open again and to compare."""

import streamlit as st

from pages.parts.frame import page
from pages.parts.kept import keeping
from pages.parts.saved.compare import tell_comparison
from pages.parts.saved.list import ask_import, headline, tell_list, tell_one, tell_unreadable
from pages.parts.view import View


def draw(view: View) -> None:
    """All of them, one of them, two of them."""
    views, unreadable = keeping().listed()
    st.markdown(f"# {headline(views, unreadable)}")
    if views:
        tell_list(views)
        tell_one(views)
        tell_comparison(views)
    elif not unreadable:
        st.caption("“Save or export” in the sidebar keeps what any page shows, with its results.")
    tell_unreadable(unreadable)
    st.markdown("## From a file")
    ask_import()


page(
    "Saved",
    draw,
    icon=":material/bookmarks:",
    question="What was kept, and what did a change do?",
)
