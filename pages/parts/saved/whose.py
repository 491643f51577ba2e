"""Whose the saved views and presets are, where that is not the visitor alone on a server."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.mode import current_mode
from engine.saved import Kept
from pages.parts.link import asked_of

PICKED = ("view", "before", "after")  # the settings that name a view


def tell_who_sees() -> None:
    """Who else sees and changes what stands here; nothing for a single user."""
    if words := current_mode().listed_in_words:
        st.caption(words)


def tell_of_others(views: Sequence[Kept]) -> None:
    """Why a link to a view of another visit shows none; every visit has ids of its own."""
    if current_mode().is_shared:
        return
    ids = {str(kept.id) for kept in views}
    if any(set(asked_of(name)) - ids for name in PICKED):
        st.info(
            "This link names a saved view of another visit. Here each visit keeps its own, which "
            "nobody else can open: ask whoever sent the link for the view as JSON, or for the link "
            "of the page that it shows.",
            icon=":material/lock:",
        )
