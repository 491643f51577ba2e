"""Compare: which policy is best for this mix and memory, and how far from the best possible."""

import streamlit as st

from engine import wording
from engine.figures.cdf import describe_cdf, draw_cdf
from engine.league import headline, league, league_table
from engine.metrics import per_request
from pages.parts import show
from pages.parts.frame import page
from pages.parts.jobs import finished, needed, offer
from pages.parts.runs import bound_jobs, run_jobs
from pages.parts.view import View


def draw(view: View) -> None:
    """The best policy in a sentence, the distributions, the league table."""
    jobs = run_jobs(view)
    (runs,) = needed(jobs)
    bounds = [bound for found in finished(bound_jobs(view)) for bound in found]
    entries = league(runs, bounds)
    best = entries[0]

    st.markdown(f"#### {headline(entries)}")
    show.load(best)
    with st.grid(4, min_column_width=150):
        st.metric(f"Best mean latency ({best.label})", wording.amount(best.mean, show.UNIT))
        st.metric("Its P99", wording.amount(best.numbers["p99_latency"], show.UNIT))
        st.metric("Above the bound", wording.gap(best.gap))
        st.metric("Set aside (larger than M)", wording.count(len(best.run.set_aside)))

    latencies = {entry.label: entry.run.latency for entry in entries[:8]}
    styles = {entry.label: entry.run.policy for entry in entries}
    show.figure(
        draw_cdf(latencies, styles, "end-to-end latency", show.UNIT),
        describe_cdf(latencies, "end-to-end latency", show.UNIT),
        "latency-cdf",
    )
    offer(jobs)
    show.league(entries)
    show.advice(view, best)
    with st.container(horizontal=True):
        show.download("League table (CSV)", "league.csv", lambda: league_table(entries))
        show.download(
            f"Requests of {best.label} (CSV)",
            "requests.csv",
            lambda: per_request(best.run, view.workload),
        )


page("Compare", draw)
