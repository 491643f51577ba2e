"""The gap closed from both sides, on the Gap page: better schedules and better bounds.

The search runs with one budget after another, each twice the one before. A budget is work,
not time, so each result is the same for everybody, is drawn as soon as it is there, and
stays when the rest is cancelled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import streamlit as st

from engine import Bound, Run, wording
from engine.convergence import best_so_far, climbs, relaxations
from engine.figures.convergence import describe_convergence, draw_convergence
from engine.figures.search import describe_search, draw_search
from engine.league import Entry, is_proved_best
from pages.parts import show
from pages.parts.jobs import Job, offer
from pages.parts.runs import run_job
from pages.parts.view import Choice, View

BUDGETS = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds of work
MOST_REQUESTS = 100_000


def search_jobs(view: View) -> dict[float, Job]:
    """One run of best-found a budget; none for more requests than it can help."""
    n = len(view.workload)
    if n > MOST_REQUESTS:
        return {}
    return {
        budget: replace(
            run_job(view, Choice("best-found", (("seconds", budget),))),
            title=f"search with {budget:g} s of work",
            seconds=budget + 1e-4 * n,
        )
        for budget in BUDGETS
    }


def searched(searches: dict[float, Job]) -> list[tuple[float, Run]]:
    """The work spent so far and the best run by then, after each search that is done."""
    done = [(budget, job.result()) for budget, job in searches.items() if job.is_done]
    return best_so_far(done)


def tell_search(
    found: Sequence[tuple[float, Entry]], entries: Sequence[Entry], searches: Collection[Job]
) -> None:
    """The gap of the best schedule found against the work spent."""
    st.markdown("### Better schedules")
    others = [entry for entry in entries if entry.run.policy != "best-found" and entry.gap]
    if found:
        show.figure(
            draw_search(found, others[0] if others else None), describe_search(found), "search"
        )
    elif is_proved_best(entries[0]):
        st.caption(f"{entries[0].label} meets a bound: there is no better schedule to be found.")
        return
    elif not searches:
        st.caption(f"Sought for up to {wording.count(MOST_REQUESTS)} requests.")
    else:
        st.caption("How near the bound can a schedule come? Let a search look for better ones.")
    offer(searches, "Search for better schedules")


def tell_convergence(bounds: Sequence[Bound], methods: Sequence[Job]) -> None:
    """How the price bounds rose, and whether they have come to rest."""
    st.markdown("### Better bounds")
    if found := climbs(bounds):
        st.markdown("  \n".join(climb.in_words() for climb in found))
        show.figure(
            draw_convergence(found, relaxations(bounds)),
            describe_convergence(found),
            "convergence",
        )
    else:
        st.caption("How high can the bound be pushed? Let it climb from the fluid's prices.")
    offer(methods)
