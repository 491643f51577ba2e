"""What is in view, to keep: saved under a name, or taken away as a report or as JSON."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from engine import Bound, InputError
from engine.league import Entry, league
from engine.saved import Snapshot, facts_of, results_of
from pages.parts import link
from pages.parts.jobs import Job
from pages.parts.runs import bound_jobs, run_jobs
from pages.parts.saved_store import keeping
from pages.parts.upload import upload_of
from pages.parts.view import View

NO_VIEW = ("Saved", "About")  # pages that show no scenario: what is saved there is Compare


def keep_row(page: str, view: View) -> None:
    """In the sidebar, at the end of a run: the address that is saved is published by then."""
    settings = link.address()
    with st.popover("Save or export", icon=":material/bookmark_add:", width="stretch"):
        name = st.text_input("Name", key="save name", placeholder="Twice the memory")
        if st.button("Save this view", type="primary", disabled=not name.strip()):
            _save(name, page, view)
        st.caption("Settings and results, to open and to compare on the page Saved.")
        st.download_button(
            "Report (HTML)",
            data=lambda: _report(settings, view),
            file_name="headroom.html",
            mime="text/html",
            icon=":material/summarize:",
            on_click="ignore",
            help="One file with live charts that needs no server.",
        )
        st.download_button(
            "This view (JSON)",
            data=lambda: _snapshot(page, settings, view).text(view.title).encode(),
            file_name="view.json",
            mime="application/json",
            icon=":material/data_object:",
            on_click="ignore",
            help="The page Saved reads it back.",
        )


def _save(name: str, page: str, view: View) -> None:
    try:
        kept = keeping().save(name, _snapshot(page, link.address(), view))
    except InputError as problem:
        st.toast(str(problem), icon=":material/error:", duration="long")
        return
    taken = "" if kept.name == " ".join(name.split()) else " That name was taken; both are kept."
    st.toast(f"Saved as “{kept.name}”.{taken}", icon=":material/bookmark_added:", duration="long")
    if page == "Saved":  # its list was drawn before
        st.rerun()


def _snapshot(page: str, settings: dict, view: View) -> Snapshot:
    """The view, with the results that are there without further work."""
    entries, _ = _league(view)
    return Snapshot(
        page="Compare" if page in NO_VIEW else page,
        settings=settings,
        title=view.title,
        facts=_facts(view),
        results=results_of(entries),
        unit=view.clock.unit,
        trace=_trace(view),
    )


def _report(settings: dict, view: View) -> bytes:
    from engine.session_report import session_report  # plotly is slow to import

    entries, bounds = _league(view)
    if not entries:
        raise InputError("there is nothing to report: pick a policy that runs")
    query = urlencode(settings, doseq=True)
    here = (st.context.url or "").partition("?")[0]
    return session_report(view.title, _facts(view), entries, bounds, f"{here}?{query}").encode()


def _league(view: View) -> tuple[list[Entry], list[Bound]]:
    bounds = [bound for rows in _ready(bound_jobs(view)) for bound in rows]
    return league(_ready(run_jobs(view)), bounds), bounds


def _facts(view: View) -> dict:
    labels = [choice.policy.label(dict(choice.params)) for choice in view.choices]
    given = (view.workload, view.scenario, view.memory, view.clock, view.topology)
    return facts_of(*given, labels, _trace(view))


def _trace(view: View) -> str:
    upload = upload_of(view.workload)
    return "" if upload is None else upload.name


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
