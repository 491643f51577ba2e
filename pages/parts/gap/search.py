"""The gap closed from both sides, on the Gap page: better schedules and better bounds.

Whatever the search finds is drawn as soon as it is there, and stays when the rest is cancelled.
Its budget is work, not time, so the result is the same for everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from engine import Bound, Choice, Run, wording
from engine.evidence.convergence import as_entries, climbs, is_better, relaxations
from engine.figures.convergence import describe_convergence, draw_convergence
from engine.figures.search import describe_search, draw_search
from engine.measure.league import Entry, is_proved_best
from engine.progress import Found, Progress
from pages.parts import show
from pages.parts.jobs import Job, offer
from pages.parts.runs import run_job
from pages.parts.store import store
from pages.parts.view import View

BUDGET = 10.0  # seconds of work
MOST_REQUESTS = 100_000
LIVE = "where the search is drawn"

Story = tuple[
    tuple[float, Run], ...
]  # the work spent, and the best run by then, whenever it was better


def search_job(view: View, bounds: Sequence[Bound] = ()) -> Job | None:
    """The search for better schedules; none for more requests than it can help.

    Where one server is searched for, what it finds is told and drawn while it runs.
    """
    n = len(view.workload)
    search = Choice.of("best-found", {"seconds": BUDGET})
    if n > MOST_REQUESTS or not view.deployment.takes(search):
        return None
    job = run_job(view, search)

    def compute(progress: Progress) -> Run:
        def heard(share: float, what: str = "") -> None:
            if isinstance(what, Found) and view.deployment.servers == 1:
                _add(job, share * BUDGET, what.run)
                _draw_live(as_entries(searched(job), bounds))
            progress(share, _with_gap(what, as_entries(searched(job)[-1:], bounds)))

        run = job.compute(heard)
        _add(job, BUDGET, run)
        return run

    return replace(
        job,
        title="the search for better schedules",
        seconds=BUDGET + 1e-4 * n,
        compute=compute,
    )


def searched(job: Job | None) -> Story:
    """What the search has found so far, in any session."""
    return (job and store().peek(("story", job.key))) or ()


def _add(job: Job, spent: float, run: Run) -> None:
    story = searched(job)
    if is_better(run, story[-1][1] if story else None):
        store().put(("story", job.key), (*story, (spent, run)))


def _with_gap(what: str, best: list[tuple[float, Entry]]) -> str:
    return f"{what}, {wording.gap(best[0][1].gap)} above the bound" if best else what


def _draw_live(story: list[tuple[float, Entry]]) -> None:
    """Draw the story anew where this session's page has it."""
    slot = st.session_state.get(LIVE)
    if story and slot is not None:
        slot.plotly_chart(draw_search(story, None), key=f"search at {story[-1][0]:g}")


def tell_search(
    story: Sequence[tuple[float, Entry]], entries: Sequence[Entry], job: Job | None
) -> None:
    """The gap of the best schedule found against the work spent."""
    st.markdown("### Better schedules")
    others = [entry for entry in entries if entry.run.policy != "best-found" and entry.gap]
    st.session_state[LIVE] = slot = st.empty()
    if story:
        with slot:
            show.figure(
                draw_search(story, others[0] if others else None), describe_search(story), "search"
            )
    elif is_proved_best(entries[0]):
        st.caption(f"{entries[0].label} meets a bound: there is no better schedule to be found.")
        return
    elif job is None:
        st.caption(
            f"Sought for up to {wording.count(MOST_REQUESTS)} requests, "
            "in the ideal engine, by routers that do not look at the servers."
        )
    else:
        st.caption("How near the bound can a schedule come? Let a search look for better ones.")
    offer([job] if job else [], "Search on" if story else "Search for better schedules")


def tell_convergence(bounds: Sequence[Bound], methods: Sequence[Job]) -> None:
    """How the price bounds rose, and whether they have come to rest."""
    st.markdown("### Better bounds")
    if rising := climbs(bounds):
        st.markdown("  \n".join(climb.in_words() for climb in rising))
        show.figure(
            draw_convergence(rising, relaxations(bounds)),
            describe_convergence(rising),
            "convergence",
        )
    else:
        st.caption("How high can the bound be pushed? Let it climb from the fluid's prices.")
    offer(sorted(methods, key=lambda job: job.seconds))
