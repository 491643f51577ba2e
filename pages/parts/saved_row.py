"""Saving what is in view: the row in the sidebar, and what it does at the end of the page's run."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from engine.league import league
from engine.saved import Snapshot, facts_of, results_of
from pages.parts import link
from pages.parts.jobs import Job
from pages.parts.runs import bound_jobs, run_jobs
from pages.parts.saved_store import keeping
from pages.parts.upload import upload_of
from pages.parts.view import View

ASKED = "save as"  # in the session: the name to save under at the end of this run
NO_VIEW = ("Saved", "About")  # pages that show no scenario: what is saved there is Compare


def ask_save() -> None:
    """A name and a button."""
    with st.popover("Save this view", icon=":material/bookmark_add:", width="stretch"):
        name = st.text_input("Name", key="save name", placeholder="Twice the memory")
        st.button("Save", type="primary", disabled=not name.strip(), on_click=_ask, args=(name,))
        st.caption("Settings and results, to open and to compare on the page Saved.")


def _ask(name: str) -> None:
    st.session_state[ASKED] = name


def save_if_asked(page: str, view: View | None) -> None:
    """Keep the view, once its address is published; None where the page could not be drawn."""
    name = st.session_state.pop(ASKED, None)
    if name is None:
        return
    if view is None:
        st.toast("There is nothing to save on this page yet.", icon=":material/error:")
        return
    try:
        kept = keeping().save(name, snapshot_of(page, view))
    except InputError as problem:
        st.toast(str(problem), icon=":material/error:", duration="long")
        return
    taken = "" if kept.name == " ".join(name.split()) else " That name was taken; both are kept."
    st.toast(f"Saved as “{kept.name}”.{taken}", icon=":material/bookmark_added:", duration="long")
    if page == "Saved":  # its list was drawn before
        st.rerun()


def snapshot_of(page: str, view: View) -> Snapshot:
    """The view, with the results that are there without further work."""
    bounds = [bound for rows in _ready(bound_jobs(view)) for bound in rows]
    entries = league(_ready(run_jobs(view)), bounds)
    upload = upload_of(view.workload)
    trace = "" if upload is None else upload.name
    labels = [choice.policy.label(dict(choice.params)) for choice in view.choices]
    given = (view.workload, view.scenario, view.memory, view.clock, view.topology)
    return Snapshot(
        page="Compare" if page in NO_VIEW else page,
        settings=link.address(),
        title=view.title,
        facts=facts_of(*given, labels, trace),
        results=results_of(entries),
        unit=view.clock.unit,
        trace=trace,
    )


def _ready(jobs: list[Job]) -> list:
    """The results that are there or quickly had; what cannot be computed is left out."""
    found = []
    for job in jobs:
        if job.is_done or job.is_quick:
            try:
                found.append(job.result())
            except InputError:  # the page has told of it
                continue
    return found
