"""The saved views: a table of all, and what can be done with one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import wording
from engine.saved import Kept, Unreadable
from engine.saved.snapshot import best_of
from pages.parts.declared import MAIN, find_page
from pages.parts.kept import keeping
from pages.parts.link import linked
from pages.parts.literal import literal
from pages.parts.saved.doing import ask_delete, tell


def headline(views: Sequence[Kept], unreadable: Sequence[Unreadable]) -> str:
    """How many there are, and the lowest mean latency of the latest."""
    if not views:
        return "Nothing that is saved can be read" if unreadable else "Nothing is saved yet"
    last = views[0]
    what = best_of(last.snapshot.results, last.snapshot.unit)
    scenario = f": {literal(what)}" if what else ""
    if len(views) == 1:
        return f"One view is saved, **{literal(last.name)}**{scenario}"
    return f"{len(views)} views are saved; the latest is **{literal(last.name)}**{scenario}"


def tell_list(views: Sequence[Kept]) -> None:
    """The latest first."""
    clocks = [_fact(kept, "clock") for kept in views]
    table = pd.DataFrame(
        {
            "Name": [kept.name for kept in views],
            "M (tokens)": [_fact(kept, "M (tokens)") for kept in views],
            "Clock": clocks,
            "Lowest mean latency": [
                best_of(kept.snapshot.results, kept.snapshot.unit) or "–" for kept in views
            ],
            "Scenario": [kept.snapshot.title for kept in views],
            "Page": [kept.snapshot.page for kept in views],
            "Saved (UTC)": [kept.saved.strftime("%Y-%m-%d %H:%M") for kept in views],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        alt="The saved views, the latest first",
        # A GPU's name comes first; its coefficients may be cut.
        column_config={
            "Clock": st.column_config.Column(width=240 if set(clocks) - {"rounds"} else 80)
        },
    )


def _fact(kept: Kept, name: str) -> str:
    value = kept.snapshot.facts.get(name)
    return "–" if value is None else wording.told(value)


def pick(label: str, name: str, views: Sequence[Kept], usual: int) -> Kept:
    """One of the views; which is in the link."""
    by_id = {kept.id: kept for kept in views}
    default = views[min(usual, len(views) - 1)].id
    chosen = st.selectbox(
        label,
        by_id,
        format_func=lambda id: by_id[id].name,
        **linked(name, default, int, options=by_id),
    )
    return by_id[chosen]


def tell_one(views: Sequence[Kept]) -> None:
    """Open, rename, export, delete."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kept = pick("One of them", "view", views, 0)
        page = find_page(kept.snapshot.page)
        st.page_link(
            MAIN if page is None else page.path,
            label=f"Open on {literal(kept.snapshot.page)}",
            icon=":material/open_in_new:",
            query_params={name: list(texts) for name, texts in kept.snapshot.settings.items()},
        )
        st.download_button(
            "Export (JSON)",
            data=kept.snapshot.text(kept.name),
            file_name=f"{_file_name(kept.name)}.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
        )
        with st.popover("Rename", icon=":material/edit:"):
            name = st.text_input("New name", value=kept.name, key=f"rename {kept.id}")
            st.button("Rename it", on_click=_rename, args=(kept.id, name))
        ask_delete(kept.id, kept.name, keeping().delete)
    if kept.snapshot.trace:
        st.caption(
            f"Its requests are from the file {literal(kept.snapshot.trace)}, which is not kept: "
            "drop it into the sidebar once more when the view is open."
        )


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "view"


def _rename(id: int, name: str) -> None:
    tell(lambda: f"It is now called “{keeping().rename(id, name)}”.")
