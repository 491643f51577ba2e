"""What is in the database, or in an old file, and holds nothing that this version can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from engine.machine.own_presets import delete_row
from engine.saved import Unreadable
from pages.parts.kept import keeping
from pages.parts.literal import shortened
from pages.parts.saved.doing import ask_delete

MOST_LISTED = 20  # rows listed at a time
MOST_TOLD = 300  # characters of what stands in such a row


def tell_unreadable(views: Sequence[Unreadable], presets: Sequence[Unreadable]) -> None:
    """Why each cannot be read, and a button to be rid of it."""
    if not views and not presets:
        return
    st.markdown("## What cannot be read")
    _list(views, "", keeping().delete)
    _list(presets, "The preset ", delete_row)


def _list(rows: Sequence[Unreadable], kind: str, delete: Callable[[int], None]) -> None:
    for row in rows[:MOST_LISTED]:
        name = shortened(row.name, MOST_TOLD)
        text, away = st.columns((5, 1), vertical_alignment="center")
        text.text(f"{kind}“{name}” cannot be read: {shortened(row.reason, MOST_TOLD)}")
        if row.id is None:
            text.caption("A file in the folder hardware of your own data: mend it or remove it.")
            continue
        with away:
            ask_delete(row.id, name, delete)
    if len(rows) > MOST_LISTED:
        st.caption(f"The latest {MOST_LISTED} of {len(rows)}.")
