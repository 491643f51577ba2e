"""Gap to bound: how far is each policy from the best possible, and how do we know."""

import streamlit as st

from engine import METHODS
from engine.bound import NO_BOUND
from engine.evidence.convergence import as_entries
from engine.figures.gaps import describe_gaps, draw_gaps, explain_lines
from engine.measure.league import coverage_table, gap_headline, league
from engine.measure.remarks import caveats
from pages.parts import show
from pages.parts.frame import page
from pages.parts.gap.certainty import hand_out, tell_certainty, tell_optimum
from pages.parts.gap.losses import tell_losses
from pages.parts.gap.search import search_job, searched, tell_convergence, tell_search
from pages.parts.gap.sensitivity import tell_sensitivity
from pages.parts.jobs import NothingYet, finished, needed, offer
from pages.parts.runs import bound_jobs, run_jobs
from pages.parts.sidebar.memory import offer_memory
from pages.parts.view import View


def draw(view: View) -> None:
    """The gaps, what they are made of, how to narrow them, and how they are known."""
    if view.workload.depends_on_run:
        raise NothingYet(f"No bound here: {NO_BOUND}.")
    offer_memory(view.deployment.memory)
    jobs = run_jobs(view)
    methods = bound_jobs(view, [key for key, method in METHODS.items() if not method.is_exact])
    exact = bound_jobs(view, [key for key, method in METHODS.items() if method.is_exact])
    runs, rows_by_method = needed(jobs, methods)
    bounds = [bound for rows in [*rows_by_method, *finished(exact)] for bound in rows]
    search = search_job(view, bounds)
    story = searched(search)
    best = [run for _, run in story[-1:] if run not in runs]
    entries = league([*runs, *best], bounds)

    st.markdown(f"# {gap_headline(entries)}")
    show.loads(entries)
    show.remarks(caveats(entries, bounds))
    show.figure(draw_gaps(entries, bounds), describe_gaps(entries), "gap-to-bound")
    st.caption(explain_lines(bounds))
    offer(jobs)

    tell_losses(view, entries, bounds)

    st.markdown("## How to narrow it")
    schedules, proofs = st.columns(2, gap="medium")
    with schedules:
        tell_search(as_entries(story, bounds), entries, search)
    with proofs:
        tell_convergence(bounds, methods)

    tell_sensitivity(view)

    st.markdown("## Every policy against every bound that covers its run")
    show.rows(
        coverage_table(entries, bounds), "Gap of every policy to every bound that covers its run"
    )
    st.markdown("## How certain are the bounds?")
    tell_certainty(bounds)
    tell_optimum(view, exact, bounds)
    hand_out(view, bounds)


page(
    "Gap to bound",
    draw,
    icon=":material/vertical_align_bottom:",
    question="How far is each policy from the best possible?",
)
