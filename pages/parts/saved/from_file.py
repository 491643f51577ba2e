"""A view or a preset from a file that was exported here."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from engine.machine.own_presets import save
from engine.machine.preset_text import PREFIX, is_preset, read_preset
from engine.saved.snapshot import read_snapshot
from pages.parts.kept import keeping
from pages.parts.literal import literal

MOST_MEGABYTES = 2  # of a file


def ask_import() -> None:
    """The same file is taken once."""
    file = st.file_uploader(
        "Import a view or a preset (JSON)",
        type="json",
        help="What was exported here, or a preset of an earlier version.",
        key="view file",
        max_upload_size=MOST_MEGABYTES,
    )
    if file is None or st.session_state.get("view taken") == file.file_id:
        return
    st.session_state["view taken"] = file.file_id
    try:
        name = _keep(file.getvalue().decode("utf-8-sig", "replace"), file.name)
    except InputError as problem:
        st.error(literal(f"{file.name}: {problem}"), icon=":material/edit:")
        return
    st.toast(f"Imported as “{literal(name)}”.", icon=":material/bookmark_added:")
    st.rerun()


def _keep(text: str, file: str) -> str:
    """The name that it got."""
    if is_preset(text):
        return save(read_preset(text, PREFIX)).title
    name, snapshot = read_snapshot(text)
    return keeping().save(name or file, snapshot).name
