"""What is done to a row of the database, and how that is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from engine import InputError
from engine.mode import current_mode
from pages.parts.literal import literal


def ask_delete(id: int, name: str, delete: Callable[[int], None]) -> None:
    """Once more, before it is gone."""

    def deleted() -> str:
        delete(id)
        return "Deleted."

    with st.popover("Delete", icon=":material/delete:", key=f"ask delete {id}"):
        about = f"“{literal(name)}” cannot be brought back."
        st.write(f"{about} {current_mode().deleted_in_words}".rstrip())
        away = partial(tell, deleted)
        st.button("Delete it", type="primary", key=f"delete {id}", on_click=away)


def tell(do: Callable[[], str]) -> None:
    """Do it and say so, or why not."""
    try:
        st.toast(literal(do()), icon=":material/check:")
    except InputError as problem:
        st.toast(literal(problem), icon=":material/error:", duration="long")
