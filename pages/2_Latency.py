"""Latency: who waits how long, under which policy."""

import streamlit as st

from engine.figures.cdf import describe_cdf, draw_cdf
from engine.latency import class_table, latency_headline, quantile_table, samples
from engine.league import league
from pages.parts import show
from pages.parts.frame import page
from pages.parts.jobs import needed, offer
from pages.parts.latency_controls import ask_class, ask_log, ask_quantity
from pages.parts.runs import run_jobs
from pages.parts.view import View


def draw(view: View) -> None:
    """One time, by policy: its distribution and its quantiles."""
    jobs = run_jobs(view)
    (runs,) = needed(jobs)
    entries = league(runs, [])
    headline = st.empty()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        quantity, name, log = ask_quantity(), ask_class(view), ask_log()
    values = samples(entries, quantity, name)
    headline.markdown(f"# {latency_headline(values, quantity, name)}")
    styles = {entry.label: entry.run.policy for entry in entries}
    shown = dict(list(values.items())[: show.DRAWN])
    show.figure(
        draw_cdf(shown, styles, quantity, show.UNIT, log),
        describe_cdf(shown, quantity, show.UNIT),
        "latency-cdf",
    )
    show.how_many_drawn(entries)
    offer(jobs)
    table = quantile_table(values)
    show.numbers(table, f"Quantiles of {quantity} by policy, {show.UNIT}")
    show.download("Quantiles (CSV)", "quantiles.csv", lambda: table)
    if len(view.workload.classes) > 1:
        st.markdown("## Who pays for it: mean latency by class")
        show.numbers(class_table(entries), f"Mean latency by policy and class, {show.UNIT}")


page("Latency", draw)
