"""A user's own trace, kept for the session so that every page has it."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace

import streamlit as st

from engine import Workload, wording
from engine.machine.clock import Clock
from engine.mode import current_mode
from engine.traces import Report, TraceRequests, as_workload, read_requests
from engine.traces.ceilings import lowered
from engine.traces.clock import PER_SECOND
from engine.traces.part import TracePart
from engine.traces.read import known_logs
from engine.traces.remarks import on_wall_clock, remarks
from pages.parts.jobs import NothingYet
from pages.parts.link import forget, linked
from pages.parts.literal import literal
from pages.parts.sidebar.trace_columns import ask_columns
from pages.parts.sidebar.trace_part import SETTINGS as PART_SETTINGS
from pages.parts.sidebar.trace_part import ask_part
from pages.parts.store import uploads

AS_GIVEN = "as the file says"
UNITS = (AS_GIVEN, *PER_SECOND)


@dataclass(frozen=True, eq=False)
class Upload:
    """The trace of this session, or the part of it that is looked at.

    Attributes
    ----------
    name : of the file
    requests, report : in seconds, and how they were read and chosen
    """

    name: str
    requests: TraceRequests
    report: Report

    @property
    def part(self) -> str:
        """Which part of the file it is, in words; empty for all of it."""
        return self.report.part

    @property
    def on_wall_clock(self) -> bool:
        """Whether its arrivals are in seconds for certain."""
        return on_wall_clock(self.report)

    def remarks(self, clock: Clock) -> list[str]:
        """What to say of how it was read, where that clock counts."""
        seconds = st.session_state.get("round_seconds", 1.0)
        return remarks(self.report, clock.is_rounds, seconds)


@dataclass(frozen=True, eq=False)
class File:
    """What was dropped; caches go by its digest, as hashing a large one in every run takes long."""

    name: str
    content: bytes
    digest: bytes

    def opened(self) -> io.BytesIO:
        file = io.BytesIO(self.content)
        file.name = self.name  # what a message about a bad row begins with
        return file


def uploaded(clock: Clock) -> tuple[str, Workload]:
    """The trace in use; without one, a page that says how to bring one, and no further."""
    st.session_state.pop("upload", None)  # until this run has read it
    _take_file()
    file = current_file()
    if file is None:
        raise NothingYet(
            "Drop a trace into the sidebar: a CSV with columns arrival,prompt,output (tokens), or "
            "the log or benchmark result of a server. A link to this view does not hold the trace "
            "itself."
        )
    picked = ask_columns(file)
    seconds = _ask_round_seconds() if clock.is_rounds else 1.0
    unit = st.selectbox(
        "Unit of the arrivals",
        UNITS,
        help="Set it where the mean rate is plainly wrong.",
        **linked("time_unit", AS_GIVEN, options=UNITS),
    )
    place = (file.digest, file.name, None if unit == AS_GIVEN else unit, picked)
    whole, report = _read(place, file)
    if st.session_state.get("read as", place) != place:
        forget(PART_SETTINGS)  # the end of what was read before is not the end of this
    st.session_state["read as"] = place
    part = ask_part(place, whole, report)
    upload = _part(place, part, file)
    st.session_state["upload"] = upload
    _tell(upload, whole, clock)
    title = f"{file.name}, {upload.part}" if upload.part else file.name
    title = f"{title}, {wording.number(seconds)} s a round" if clock.is_rounds else title
    return title, _workload(place, part, seconds, file)


def current_file() -> File | None:
    """What this session has dropped."""
    return st.session_state.get("file")


def upload_of(workload: Workload) -> Upload | None:
    """The session's trace, if that is what these requests are."""
    upload = st.session_state.get("upload")
    if st.session_state.get("from") != "upload" or upload is None:
        return None
    return upload if len(upload.requests) == len(workload) else None


def unit_seconds(clock: Clock, upload: Upload | None) -> float | None:
    """How long a unit of the arrivals is; None for rounds that were never seconds."""
    if not clock.is_rounds:
        return 1.0
    on_clock = upload is not None and upload.on_wall_clock
    return st.session_state.get("round_seconds") if on_clock else None


def _take_file() -> None:
    """Ask for a file, and keep it beyond this page."""
    dropped = st.file_uploader(
        "Trace",
        key="trace",
        help="A CSV with columns arrival,prompt,output (tokens), any table, JSON lines or Parquet "
        f"with such columns, or a known log: {known_logs()}. gzip is unpacked.",
    )
    if dropped is not None and st.session_state.get("file id") != dropped.file_id:
        current_mode().check_upload(dropped.size)
        content = dropped.getvalue()
        digest = hashlib.blake2b(content, digest_size=16).digest()
        before = current_file()
        if before is not None and before.digest != digest:
            forget(PART_SETTINGS)  # hours of one trace mean nothing in another
        st.session_state["file"] = File(dropped.name, content, digest)
        st.session_state["file id"] = dropped.file_id
    if dropped is None and (kept := current_file()) is not None:
        _tell_kept(kept)


def _tell_kept(file: File) -> None:
    """The uploader forgets what it held on a change of page; the session does not."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/attach_file: {literal(file.name)}, kept from before")
        st.button("Remove", key="remove file", icon=":material/close:", on_click=_remove_file)


def _remove_file() -> None:
    for name in ("file", "file id", "upload"):
        st.session_state.pop(name, None)
    forget(PART_SETTINGS)


def _tell(upload: Upload, whole: TraceRequests, clock: Clock) -> None:
    """What is read, in a few lines under the controls."""
    report = upload.report
    summary = f"{upload.name}: {wording.counted(len(upload.requests), 'request')}"
    if upload.part:
        summary += f" of {wording.count(len(whole))}, {upload.part}"
    if report.rate:
        summary += f", {wording.number(report.rate)} a second"
    st.caption(literal(summary))
    for remark in upload.remarks(clock):
        st.caption(f":material/warning: {literal(remark)}")


def _ask_round_seconds() -> float:
    return st.number_input(
        "Seconds a round",
        1e-6,
        1e6,
        format="%.4g",
        help="Arrivals are divided by this. A decode round of Llama-2-70B takes about 0.05 s.",
        **linked("round_seconds", 1.0, float, low=1e-6, high=1e6),
    )


def _read(place: tuple, file: File) -> tuple[TraceRequests, Report]:
    _, _, unit, picked = place

    def read() -> tuple[TraceRequests, Report]:
        with st.spinner("Reading the trace"), lowered(current_mode().ceilings):
            return read_requests(
                file.opened(),
                time_unit=unit,
                duration_unit=picked.duration_unit,
                columns=dict(picked.roles),
                ignored=picked.ignored,
            )

    return uploads().get(("read", place), read)


def _part(place: tuple, part: TracePart, file: File) -> Upload:
    def choose() -> Upload:
        whole, report = _read(place, file)
        requests = part.of(whole)
        return Upload(file.name, requests, Report.of(requests, report.format))

    return uploads().get(("part", place, part), choose)


def _workload(place: tuple, part: TracePart, round_seconds: float, file: File) -> Workload:
    def serve() -> Workload:
        requests = _part(place, part, file).requests
        return as_workload(replace(requests, seconds=requests.seconds.copy()), round_seconds)

    return uploads().get(("workload", place, part, round_seconds), serve)
