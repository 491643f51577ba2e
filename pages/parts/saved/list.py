"""The saved views: a table of all, and what can be done with one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import InputError, wording
from engine.saved import Kept, Unreadable
from engine.saved.snapshot import best_of, read_snapshot
from pages.parts.declared import MAIN, find_page
from pages.parts.kept import keeping
from pages.parts.link import linked
from pages.parts.literal import literal

MOST_MEGABYTES = 2  # of a file with a view
MOST_UNREADABLE = 20  # rows listed at a time
MOST_TOLD = 300  # characters of what stands in such a row


def headline(views: Sequence[Kept], unreadable: Sequence[Unreadable]) -> str:
    """How many there are, and the lowest mean latency of the latest."""
    if not views:
        return "Nothing that is saved can be read" if unreadable else "Nothing is saved yet"
    last = views[0]
    what = best_of(last.snapshot.results, last.snapshot.unit)
    told = f": {literal(what)}" if what else ""
    if len(views) == 1:
        return f"One view is saved, **{literal(last.name)}**{told}"
    return f"{len(views)} views are saved; the latest is **{literal(last.name)}**{told}"


def tell_list(views: Sequence[Kept]) -> None:
    """The latest first."""
    table = pd.DataFrame(
        {
            "Name": [kept.name for kept in views],
            "M (tokens)": [_fact(kept, "M (tokens)") for kept in views],
            "Clock": [_fact(kept, "clock") for kept in views],
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
        # It begins with the GPU's name; the coefficients may be cut.
        column_config={"Clock": st.column_config.Column(width=240)},
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
        _ask_delete(kept.id, kept.name)
    if kept.snapshot.trace:
        st.caption(
            f"Its requests are from the file {literal(kept.snapshot.trace)}, which is not kept: "
            "drop it into the sidebar once more when the view is open."
        )


def tell_unreadable(rows: Sequence[Unreadable]) -> None:
    """What is in the database and is no view of this version: why, and a button to be rid of it."""
    if not rows:
        return
    st.markdown("## What cannot be read")
    for row in rows[:MOST_UNREADABLE]:
        name = _short(row.name)
        told, away = st.columns((5, 1), vertical_alignment="center")
        told.text(f"“{name}” cannot be read: {_short(row.reason)}")
        with away:
            _ask_delete(row.id, name)
    if len(rows) > MOST_UNREADABLE:
        st.caption(f"The latest {MOST_UNREADABLE} of {len(rows)}.")


def _ask_delete(id: int, name: str) -> None:
    with st.popover("Delete", icon=":material/delete:", key=f"ask delete {id}"):
        st.write(f"“{literal(name)}” cannot be brought back.")
        st.button("Delete it", type="primary", key=f"delete {id}", on_click=_delete, args=(id,))


def _short(text: str) -> str:
    return text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]}…"


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "view"


def _rename(id: int, name: str) -> None:
    _tell(lambda: f"It is now called “{keeping().rename(id, name)}”.")


def _delete(id: int) -> None:
    def delete() -> str:
        keeping().delete(id)
        return "Deleted."

    _tell(delete)


def _tell(do) -> None:
    try:
        st.toast(literal(do()), icon=":material/check:")
    except InputError as problem:
        st.toast(literal(problem), icon=":material/error:", duration="long")


def ask_import() -> None:
    """A view from a file; the same file is taken once."""
    file = st.file_uploader(
        "Import a view (JSON)",
        type="json",
        help="A view that was exported here.",
        key="view file",
        max_upload_size=MOST_MEGABYTES,
    )
    if file is None or st.session_state.get("view taken") == file.file_id:
        return
    st.session_state["view taken"] = file.file_id
    try:
        name, snapshot = read_snapshot(file.getvalue().decode("utf-8-sig", "replace"))
        kept = keeping().save(name or file.name, snapshot)
    except InputError as problem:
        st.error(literal(f"{file.name}: {problem}"), icon=":material/edit:")
        return
    st.toast(f"Imported as “{literal(kept.name)}”.", icon=":material/bookmark_added:")
    st.rerun()
