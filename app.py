"""Compare: which policy is best for this mix and memory, and how far from the best possible."""

import streamlit as st

from engine import wording
from engine.figures.cdf import describe_cdf, draw_cdf
from engine.measure.league import headline, league, league_table
from engine.measure.per_request import per_request
from engine.measure.remarks import caveats
from pages.parts import show
from pages.parts.compare.welcome import welcome
from pages.parts.frame import page
from pages.parts.jobs import finished, needed, offer
from pages.parts.link import is_untouched, linked
from pages.parts.runs import bound_jobs, run_jobs
from pages.parts.sidebar.memory import offer_memory
from pages.parts.view import View


def draw(view: View) -> None:
    """The best policy in a sentence, the distributions, the league table."""
    opening = st.empty()
    offer_memory(view.deployment.memory)
    jobs = run_jobs(view)
    (runs,) = needed(jobs)
    bounds = [bound for rows in finished(bound_jobs(view)) for bound in rows]
    entries = league(runs, bounds)
    best = entries[0]

    opening.markdown(f"# {headline(entries)}")
    if is_untouched():
        welcome(view)
    show.loads(entries)
    show.remarks(caveats(entries, bounds))
    with st.grid(4, min_column_width=150):
        st.metric(
            f"Mean latency of {best.label} ({view.deployment.unit})", wording.number(best.mean)
        )
        st.metric(f"Its P99 ({view.deployment.unit})", wording.number(best.numbers["p99_latency"]))
        st.metric("Above the bound", wording.gap(best.gap))
        st.metric("Set aside, never run", wording.count(len(best.run.set_aside)))

    log = st.toggle("Logarithmic time", **linked("log", False, bool))
    latencies = {entry.label: entry.run.latency for entry in entries[: show.DRAWN]}
    styles = {entry.label: entry.run.policy for entry in entries}
    what = "end-to-end latency", view.deployment.unit, log
    key = "cdf", view.experiment, tuple((entry.label, entry.mean) for entry in entries), log
    show.figure(
        show.once(key, lambda: draw_cdf(latencies, styles, *what)),
        describe_cdf(latencies, "end-to-end latency", view.deployment.unit),
        "latency-cdf",
    )
    show.how_many_drawn(entries)
    offer(jobs)
    if best.gap is None:
        show.offer_bound(view)
    show.league(entries)
    next_steps = st.container()
    with st.container(horizontal=True):
        show.download("League table (CSV)", "league.csv", lambda: league_table(entries))
        show.download(
            f"Requests of {best.label} (CSV)",
            "requests.csv",
            lambda: per_request(best.run, view.workload),
        )
    with next_steps:  # which takes runs of its own: all else is there before
        show.advice(view, best)
        show.headroom(view, best)


page(
    "Compare",
    draw,
    icon=":material/leaderboard:",
    question="Which policy, and how far from optimal?",
)
