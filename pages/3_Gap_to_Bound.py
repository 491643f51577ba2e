"""Gap to bound: how far is each policy from the best possible, and how do we know."""

import streamlit as st

from engine.figures.gaps import describe_gaps, draw_gaps
from engine.league import bound_table, coverage_table, gap_headline, league
from pages.parts import show
from pages.parts.frame import page
from pages.parts.jobs import finished, offer
from pages.parts.runs import bound_jobs, run_jobs

with page("Gap to bound") as view:
    jobs, methods = run_jobs(view), bound_jobs(view)
    bounds = [bound for found in finished(methods) for bound in found]
    entries = league(finished(jobs), bounds)
    if not entries or not bounds:
        st.info("Pick a policy in the sidebar, or run one of these.")
        offer([*jobs, *methods])
        st.stop()
    st.markdown(f"#### {gap_headline(entries)}")
    show.figure(draw_gaps(entries), describe_gaps(entries), "gap-to-bound")
    offer(jobs)
    offer(methods)
    st.markdown("##### Every policy against every bound that covers its run")
    st.dataframe(
        coverage_table(entries, bounds),
        hide_index=True,
        alt="Gap of every policy to every bound that covers its run",
    )
    st.markdown("##### How the bounds are certified")
    st.dataframe(bound_table(bounds), hide_index=True, alt="The bounds and how they are certified")
