"""Saved: views that were kept, to open again and to compare."""

import streamlit as st

from pages.parts.frame import PAGES, page
from pages.parts.saved_compare import tell_comparison
from pages.parts.saved_list import ask_import, headline, tell_list, tell_one, tell_unreadable
from pages.parts.saved_store import keeping
from pages.parts.view import View


def draw(view: View) -> None:
    """All of them, one of them, two of them."""
    views, unreadable = keeping().listed()
    st.markdown(f"# {headline(views, unreadable)}")
    if views:
        tell_list(views)
        tell_one(views, {name: path for path, (name, *_) in PAGES.items()})
        tell_comparison(views)
    elif not unreadable:
        st.caption("“Save or export” in the sidebar keeps what any page shows, with its results.")
    tell_unreadable(unreadable)
    st.markdown("## From a file")
    ask_import()


page("Saved", draw)
