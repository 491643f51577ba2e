"""A user's own trace, kept for the session so that every page has it."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

import streamlit as st

from engine import Workload, wording
from engine.clock import Clock
from engine.traces import Report, Requests, as_workload, read_requests
from engine.traces.clock import PER_SECOND
from engine.traces.formats import canonical
from engine.traces.read import known_formats
from pages.parts.jobs import NothingYet
from pages.parts.link import linked

AS_GIVEN = "as the file says"
UNITS = (AS_GIVEN, *PER_SECOND)
FORMATS = ", ".join(layout.NAME for layout in known_formats()[:-2])


@dataclass(frozen=True, eq=False)
class Upload:
    """The trace of this session: its file's name, its requests in seconds, how it was read."""

    name: str
    requests: Requests
    report: Report

    @property
    def on_wall_clock(self) -> bool:
        """Whether its arrivals are in seconds for certain, as in every log of a server."""
        return self.report.format != canonical.NAME and self.report.span_s > 0


def uploaded(clock: Clock) -> tuple[str, Workload]:
    """The trace in use; without one, a page that says how to bring one, and no further."""
    file = st.file_uploader(
        "Trace",
        key="trace",
        help="A CSV with columns arrival,prompt,output (tokens), any table, JSON lines or Parquet "
        f"with such columns, or a known log: {FORMATS}. gzip is unpacked.",
    )
    seconds = _ask_round_seconds() if clock.is_rounds else 1.0
    st.selectbox(
        "Unit of the arrivals",
        UNITS,
        help="Set it where the mean rate is plainly wrong.",
        **linked("time_unit", AS_GIVEN, options=UNITS),
    )
    if file is not None:
        file.seek(0)
        st.session_state["upload"] = (file.name, file.getvalue())
    upload = current_upload()
    if upload is None:
        raise NothingYet(
            "Drop a trace into the sidebar: a CSV with columns arrival,prompt,output (tokens), or "
            "the log or benchmark result of a server. A link to this view does not hold the trace "
            "itself."
        )
    st.caption(f"{upload.name}: {wording.count(len(upload.requests))} requests")
    remarks = upload.report.remarks()
    if upload.on_wall_clock and clock.is_rounds and seconds == 1.0:
        remarks = [*remarks, "This log is in seconds, and a round is taken to last 1 s: set it."]
    for remark in remarks:
        st.caption(f":material/warning: {remark}")
    workload = _workload(*_file(), seconds)
    title = f"{upload.name}, {wording.number(seconds)} s a round"
    return title if clock.is_rounds else upload.name, workload


def current_upload() -> Upload | None:
    """The trace that this session brought, read in the unit that is set; None without one."""
    return _read(*_file()) if "upload" in st.session_state else None


def upload_of(workload: Workload) -> Upload | None:
    """The session's trace, if that is what these requests are."""
    if st.session_state.get("from") != "upload":
        return None
    upload = current_upload()
    return upload if upload is not None and len(upload.requests) == len(workload) else None


def unit_seconds(clock: Clock, upload: Upload | None) -> float | None:
    """How long a unit of the arrivals is; None for rounds that were never seconds."""
    if not clock.is_rounds:
        return 1.0
    on_clock = upload is not None and upload.on_wall_clock
    return st.session_state.get("round_seconds") if on_clock else None


def _file() -> tuple[str, bytes, str | None]:
    """Name, content and the unit that the user set for it, if any."""
    unit = st.session_state.get("time_unit", AS_GIVEN)
    return *st.session_state["upload"], None if unit == AS_GIVEN else unit


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
def _read(name: str, content: bytes, unit: str | None) -> Upload:
    file = io.BytesIO(content)
    file.name = name  # what a message about a bad row begins with
    return Upload(name, *read_requests(file, time_unit=unit))


@st.cache_resource(max_entries=8, show_spinner=False)
def _workload(name: str, content: bytes, unit: str | None, round_seconds: float) -> Workload:
    requests = _read(name, content, unit).requests
    return as_workload(replace(requests, seconds=requests.seconds.copy()), round_seconds)
