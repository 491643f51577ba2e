"""Another day like this one, on the Audit page: more load, other shares of long requests."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from engine.demand.fit_laws import TraceLaws, what_if
from engine.evidence.certificate_download import requests_text
from engine.measure.other_day import days_in_words, days_table
from engine.mode import current_mode
from pages.parts import show
from pages.parts.jobs import finished, offer
from pages.parts.link import linked
from pages.parts.runs import run_jobs
from pages.parts.store import store
from pages.parts.view import View


def tell_what_if(view: View, laws: TraceLaws) -> None:
    """Sliders, then every policy on the trace and on the day that they describe."""
    st.markdown("## What if the day were another?")
    with st.container(horizontal=True):
        load = _ask_times("load", "Load (times the trace's)", 0.25, 4.0)
        share = _ask_times("long", "Long requests (times their share)", 0.0, 2.0)
    if load == share == 1.0:
        st.caption(
            "Move a slider: requests are drawn anew from the trace's laws, over the same time, "
            "under the same daily curve and as bursty as it was."
        )
        return
    current_mode().check_requests(load * len(view.workload))
    workload = store().get(
        (view.workload.digest, "what if", load, share), lambda: what_if(laws, load, share)
    )
    other = replace(view, experiment=replace(view.experiment, source=workload))
    jobs = [*run_jobs(view), *run_jobs(other)]
    today, then = finished(run_jobs(view)), finished(run_jobs(other))
    if then:
        st.markdown(days_in_words(today, then))
    if today and then:
        show.rows(
            days_table(today, then), f"Latency ({view.deployment.unit}) of both days by policy"
        )
        st.caption(f"Times in {view.deployment.unit}.")
    offer(jobs, "Run both days")
    st.download_button(
        "Requests of that day (CSV)",
        data=lambda: requests_text(workload).encode(),
        file_name="what-if.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def _ask_times(name: str, label: str, low: float, high: float) -> float:
    return st.slider(
        label,
        low,
        high,
        step=0.05,
        format="%.2fx",
        **linked(f"{name}_times", 1.0, float, low=low, high=high),
    )
