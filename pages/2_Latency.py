"""Latency: who waits how long, under which policy."""

import streamlit as st

from engine.figures.cdf import describe_cdf, draw_cdf
from engine.measure.latency import LIMITED, latency_headline, quantile_table, samples
from engine.measure.league import league
from pages.parts import show
from pages.parts.frame import page
from pages.parts.jobs import needed, offer
from pages.parts.latency.controls import ask_class, ask_log, ask_quantity, ask_slo
from pages.parts.latency.tables import attainment, who_gains
from pages.parts.latency.tradeoff import tell_tradeoff
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
    slo = ask_slo(view.deployment.unit)
    values = samples(entries, quantity, name)
    if not values:
        headline.info(latency_headline(values, quantity, name, view.deployment.unit))
        return
    headline.markdown(f"# {latency_headline(values, quantity, name, view.deployment.unit)}")
    show.load(entries[0])
    show.unserved(entries)
    styles = {entry.label: entry.run.policy for entry in entries}
    limit = slo.limits.get(LIMITED.get(quantity))
    shown = dict(list(values.items())[: show.DRAWN])
    show.figure(
        draw_cdf(shown, styles, quantity, view.deployment.unit, log, limit),
        describe_cdf(shown, quantity, view.deployment.unit),
        "latency-cdf",
    )
    show.how_many_drawn(entries)
    offer(jobs)
    table = quantile_table(values)
    show.numbers(table, f"Quantiles of {quantity} by policy, {view.deployment.unit}")
    show.download("Quantiles (CSV)", "quantiles.csv", lambda: table)
    attainment(entries, slo, view.deployment.unit)
    who_gains(entries, view.deployment.unit)
    tell_tradeoff(view)


page(
    "Latency",
    draw,
    icon=":material/ssid_chart:",
    question="Who waits how long?",
)
