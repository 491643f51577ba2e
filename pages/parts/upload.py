"""A user's own trace, kept for the session so that every page has it."""

from __future__ import annotations

import io

import streamlit as st

from engine import Workload, wording
from engine.clock import Clock
from engine.traces import read_trace
from pages.parts.jobs import NothingYet
from pages.parts.link import linked


def uploaded(clock: Clock) -> tuple[str, Workload]:
    """The trace in use; without one, a page that says how to bring one, and no further."""
    file = st.file_uploader(
        "Trace",
        key="trace",
        help="Columns arrival,prompt,output (tokens), or an Azure LLM 2023 log.",
    )
    seconds = _ask_round_seconds() if clock.is_rounds else 1.0
    if file is not None:
        file.seek(0)
        st.session_state["upload"] = (file.name, file.getvalue())
    if "upload" not in st.session_state:
        raise NothingYet(
            "Drop a trace into the sidebar: a CSV with columns arrival,prompt,output (tokens), or "
            "an Azure LLM log. A link to this view does not hold the trace itself."
        )
    name, content = st.session_state["upload"]
    workload, remarks, on_the_clock = _read(content, seconds)
    st.caption(f"{name}: {wording.count(len(workload))} requests")
    if on_the_clock and clock.is_rounds and seconds == 1.0:
        remarks = [*remarks, "This log is in seconds, and a round is taken to last 1 s: set it."]
    for remark in remarks:
        st.caption(f":material/warning: {remark}")
    return f"{name}, {wording.number(seconds)} s a round" if clock.is_rounds else name, workload


def _ask_round_seconds() -> float:
    return st.number_input(
        "Seconds a round",
        1e-6,
        1e6,
        format="%.4g",
        help="Arrivals are divided by this. A decode round of Llama-2-70B takes about 0.05 s.",
        **linked("round_seconds", 1.0, float, low=1e-6, high=1e6),
    )


@st.cache_resource(max_entries=8, show_spinner="Reading the trace")
def _read(content: bytes, round_seconds: float) -> tuple[Workload, list[str], bool]:
    workload, report = read_trace(io.BytesIO(content), round_seconds=round_seconds)
    return workload, report.remarks(), report.time_unit == "date and time"
