"""What is in view, to keep: saved under a name, or taken away as a report or as JSON."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

import streamlit as st

from engine import Bound, InputError
from engine.measure.league import Entry, league
from engine.measure.remarks import failures
from engine.mode import current_mode
from engine.progress import silent
from engine.saved import Snapshot, facts_of, results_of
from pages.parts import link
from pages.parts.jobs import Job
from pages.parts.kept import keeping
from pages.parts.literal import literal
from pages.parts.runs import bound_jobs, run_jobs
from pages.parts.sidebar.memory import doubts_of_memory
from pages.parts.sidebar.upload import upload_of
from pages.parts.store import store
from pages.parts.view import View

NO_VIEW = ("Saved", "About")  # pages that show no scenario: what is saved there is Compare


def keep_row(page: str, view: View) -> None:
    """In the sidebar, at the end of a run: the address that is saved is published by then."""
    shown = _Shown(page, view)
    with st.popover("Save or export", icon=":material/bookmark_add:", width="stretch"):
        name = st.text_input("Name", key="save name", placeholder="Twice the memory")
        if st.button("Save this view", type="primary", disabled=not name.strip()):
            _save(name, shown)
        about = "Settings and results, to open and to compare on the page Saved."
        st.caption(f"{about} {current_mode().kept_in_words}".rstrip())
        st.download_button(
            "Report (HTML)",
            data=shown.report,
            file_name="headroom.html",
            mime="text/html",
            icon=":material/summarize:",
            on_click="ignore",
            help="One file with live charts that needs no server.",
        )
        st.download_button(
            "This view (JSON)",
            data=lambda: shown.snapshot().text(view.title).encode(),
            file_name="view.json",
            mime="application/json",
            icon=":material/data_object:",
            on_click="ignore",
            help="The page Saved reads it back.",
        )


def _save(name: str, shown: _Shown) -> None:
    try:
        kept = keeping().save(name, shown.snapshot())
    except InputError as problem:
        st.toast(literal(problem), icon=":material/error:", duration="long")
        return
    taken = "" if kept.name == " ".join(name.split()) else " That name was taken; both are kept."
    message = f"Saved as “{literal(kept.name)}”.{taken}"
    st.toast(message, icon=":material/bookmark_added:", duration="long")
    if shown.page == "Saved":  # its list was drawn before
        st.rerun()


class _Shown:
    """What is in view, with all that a download needs, which is built when no page runs."""

    def __init__(self, page: str, view: View) -> None:
        self.page = page
        self._view = view
        self._settings = link.address()
        self._here = (st.context.url or "").partition("?")[0]
        self._results = store()
        self._runs, self._bounds = run_jobs(view), bound_jobs(view)
        upload = upload_of(view.workload)
        self._trace = "" if upload is None else upload.name
        clock = view.deployment.clock
        self._reading = [] if upload is None else upload.remarks(clock)
        self._reading += doubts_of_memory(view.deployment.memory)
        self._failed: dict[str, str] = {}

    def snapshot(self) -> Snapshot:
        """To be kept, with the results that are there or quickly had."""
        entries, _ = self._league()
        return Snapshot(
            page="Compare" if self.page in NO_VIEW else self.page,
            settings=self._settings,
            title=self._view.title,
            facts=self._facts(),
            results=results_of(entries),
            unit=self._view.deployment.unit,
            trace=self._trace,
        )

    def report(self) -> bytes:
        """As a web page."""
        from engine.reports.session_report import session_report  # plotly is slow to import

        address = f"{self._here}?{urlencode(self._settings, doseq=True)}" if self._here else ""
        entries, bounds = self._league()
        beside = [*self._reading, *failures(self._failed)]
        facts = self._facts()
        page = session_report(self._view.title, facts, entries, bounds, address, beside)
        return page.encode()

    def _league(self) -> tuple[list[Entry], list[Bound]]:
        bounds = [bound for rows in self._ready(self._bounds) for bound in rows]
        return league(self._ready(self._runs), bounds), bounds

    def _facts(self) -> dict:
        return facts_of(self._view.experiment, self._trace)

    def _ready(self, jobs: list[Job]) -> list:
        """What is there or quickly had; what cannot be computed, the page has told of."""
        ready = []
        for job in jobs:
            if job.key in self._results or job.is_quick:
                try:
                    ready.append(self._results.get(job.key, partial(job.compute, silent)))
                except InputError as problem:
                    self._failed[job.title] = str(problem)
        return ready
