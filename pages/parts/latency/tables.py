"""What the Latency page says beneath its chart: SLOs met, classes, and who pays."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import wording
from engine.measure.fairness import in_words, price_table, who_pays
from engine.measure.latency import class_table
from engine.measure.league import Entry, rival_of
from engine.measure.slo import Slo, attainment_table
from pages.parts import show

NAMES = {"ttft": "TTFT", "tpot": "TPOT", "latency": "End to end", "all": "All limits"}


def attainment(entries: Sequence[Entry], slo: Slo, unit: str) -> None:
    """Shares of requests within the limits; nothing without limits."""
    if not slo.limits:
        return
    table = attainment_table(entries, slo)
    written = {"Policy": table["policy"]}
    for name in (*slo.limits, "all"):
        written[f"{NAMES[name]} met"] = table[name].map(wording.percent)
    per = unit.removesuffix("s")
    written[f"Goodput (requests a {per})"] = table["goodput"].map(wording.number)
    st.markdown("## Within the limits")
    alt = "Share of requests within each limit and within all of them, by policy"
    show.rows(pd.DataFrame(written), alt)
    st.caption(f"{alt}. Goodput counts requests within all limits, up to the makespan.")


def who_gains(entries: Sequence[Entry], unit: str) -> None:
    """Mean latency by class, and what the best policy costs those who finish later."""
    st.markdown("## Who pays for it")
    if len(entries) > 1:
        best, rival = entries[0], rival_of(entries)
        st.markdown(in_words(best, rival))
        alt = f"Change from {rival.label} to {best.label} by class, {unit}"
        show.rows(price_table(who_pays(best, rival)), alt)
        st.caption(f"{alt}.")
    if len(entries[0].run.workload.classes) > 1:
        show.numbers(class_table(entries), f"Mean latency by policy and class, {unit}")
