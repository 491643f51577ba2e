"""A user's own trace, kept for the session so that every page has it."""

from __future__ import annotations

import streamlit as st

from engine import Workload, wording
from engine.traces import read_trace
from pages.parts.jobs import NothingYet
from pages.parts.link import linked


def uploaded() -> tuple[str, Workload]:
    """The trace in use; without one, a page that says how to bring one, and no further."""
    file = st.file_uploader(
        "Trace (CSV)",
        type=["csv", "txt"],
        key="trace",
        help="Columns arrival,prompt,output (tokens), or an Azure LLM 2023 log.",
    )
    seconds = st.number_input(
        "Seconds a round",
        1e-6,
        1e6,
        format="%.4g",
        help="Arrivals are divided by this. A decode round of Llama-2-70B takes about 0.05 s.",
        **linked("round_seconds", 1.0, float, low=1e-6, high=1e6),
    )
    if file is not None:
        file.seek(0)
        st.session_state["upload"] = (file.name, file.getvalue())
    if "upload" not in st.session_state:
        st.info("Drop a CSV with columns arrival,prompt,output to see it here.")
        raise NothingYet
    name, content = st.session_state["upload"]
    workload, remarks = _read(content, seconds)
    st.caption(f"{name}: {wording.count(len(workload))} requests")
    for remark in remarks:
        st.caption(f":material/warning: {remark}")
    return name, workload


@st.cache_resource(max_entries=8, show_spinner="Reading the trace")
def _read(content: bytes, round_seconds: float) -> tuple[Workload, list[str]]:
    import io

    workload, report = read_trace(io.BytesIO(content), round_seconds=round_seconds)
    return workload, report.remarks()
