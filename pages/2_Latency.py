"""Latency: who waits how long, under which policy."""

import streamlit as st

from engine.figures.cdf import describe_cdf, draw_cdf
from engine.measure.latency import latency_headline, quantile_table, samples
from engine.measure.league import league
from engine.measure.remarks import caveats
from pages.parts import show
from pages.parts.frame import page
from pages.parts.jobs import needed, offer
from pages.parts.latency.controls import ask_class, ask_log, ask_time
from pages.parts.latency.tables import attainment, who_gains
from pages.parts.latency.tradeoff import tell_tradeoff
from pages.parts.literal import sentence
from pages.parts.runs import run_jobs
from pages.parts.slo import ask_slo
from pages.parts.view import View


def draw(view: View) -> None:
    """One time, by policy: its distribution and its quantiles."""
    jobs, unit = run_jobs(view), view.deployment.unit
    (runs,) = needed(jobs)
    entries = league(runs, [])
    headline = st.empty()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        time, name, log = ask_time(), ask_class(view), ask_log()
    slo = ask_slo(unit)
    values = samples(entries, time, name)
    answer = sentence(latency_headline(values, time, name, unit))
    if not values:
        headline.info(answer)
        return
    headline.markdown(f"# {answer}")
    show.loads(entries)
    show.remarks(caveats(entries))
    styles = {entry.label: entry.run.policy for entry in entries}
    shown = dict(list(values.items())[: show.DRAWN])
    what = time.title, unit, log, slo.limits.get(time.name)
    ranked = tuple((entry.label, entry.mean) for entry in entries)
    show.figure(
        show.once(
            ("cdf", view.experiment, ranked, name, what), lambda: draw_cdf(shown, styles, *what)
        ),
        describe_cdf(shown, time.title, unit),
        "latency-cdf",
    )
    show.how_many_drawn(entries)
    offer(jobs)
    table = quantile_table(values)
    show.numbers(table, f"Quantiles of {time.title} by policy, {unit}")
    show.download("Quantiles (CSV)", "quantiles.csv", lambda: table)
    attainment(entries, slo, unit)
    who_gains(entries, unit)
    tell_tradeoff(view)


page(
    "Latency",
    draw,
    icon=":material/ssid_chart:",
    question="Who waits how long?",
)
