"""Gap to bound: how far is each policy from the best possible, and how do we know."""

import streamlit as st

from engine.figures.gaps import describe_gaps, draw_gaps, explain_lines
from engine.league import coverage_table, gap_headline, league
from pages.parts import show
from pages.parts.frame import page
from pages.parts.jobs import needed, offer
from pages.parts.runs import bound_jobs, run_jobs
from pages.parts.view import View


def draw(view: View) -> None:
    """The gaps as bars, then what each bound covers and how it is certified."""
    jobs, methods = run_jobs(view), bound_jobs(view)
    runs, found = needed(jobs, methods)
    bounds = [bound for rows in found for bound in rows]
    entries = league(runs, bounds)
    st.markdown(f"# {gap_headline(entries)}")
    show.figure(draw_gaps(entries, bounds), describe_gaps(entries), "gap-to-bound")
    st.caption(explain_lines(bounds))
    offer(jobs)
    offer(methods)
    st.markdown("## Every policy against every bound that covers its run")
    show.rows(
        coverage_table(entries, bounds), "Gap of every policy to every bound that covers its run"
    )
    st.markdown("## How the bounds are certified")
    show.certificates(bounds)


page("Gap to bound", draw)
