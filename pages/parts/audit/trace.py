"""The trace itself on the Audit page: how it was read, its lengths, its day."""

from __future__ import annotations

import numpy as np
import streamlit as st

from engine import wording
from engine.demand.fit_laws import TraceLaws, laws_in_words
from engine.figures.trace_laws import (
    describe_curve,
    describe_lengths,
    draw_curve,
    draw_lengths,
)
from engine.machine.clock import Clock
from engine.reports.audit_report import import_table
from engine.traces.clock import PER_SECOND
from pages.parts import show
from pages.parts.literal import literal
from pages.parts.sidebar.upload import AS_GIVEN, Upload, unit_seconds
from pages.parts.view import View

UNIT_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def trace_in_words(view: View) -> str:
    """How many requests in which time, and who cannot fit."""
    workload = view.workload
    n, span = len(workload), float(np.ptp(workload.arrival))
    words = wording.counted(n, "request")
    if span > 0:
        step = view.deployment.unit.removesuffix("s")
        rate = wording.number((n - 1) / span)  # one request a gap, as in the import's report
        words += f" in {wording.amount(span, view.deployment.unit)}, {rate} a {step}"
    over = _over_memory(view)
    return words + (f"; {wording.percent(over)} cannot fit in M" if over else "")


def _over_memory(view: View) -> float:
    return float((view.workload.peak > view.deployment.room).mean())


def tell_trace(view: View, laws: TraceLaws, upload: Upload | None) -> None:
    """What the trace is like, drawn; how its file was read, folded."""
    st.markdown("## The trace")
    st.markdown(laws_in_words(laws, view.deployment.unit))
    curve = laws.curve
    lengths, day = st.columns(2, gap="medium") if curve else (st.container(), None)
    with lengths:
        show.figure(
            draw_lengths(view.workload.peak, laws.split, view.deployment.memory),
            describe_lengths(view.workload.peak, laws.split),
            "lengths",
        )
    if curve is not None and day is not None:
        with day:
            show.figure(
                draw_curve(
                    curve, view.deployment.unit, unit_seconds(view.deployment.clock, upload)
                ),
                describe_curve(curve, view.deployment.unit),
                "daily-curve",
            )
    if upload is not None:
        with st.expander("How the file was read", icon=":material/description:"):
            _tell_import(upload, _over_memory(view), view.deployment.clock)


def _tell_import(upload: Upload, over: float, clock: Clock) -> None:
    report = upload.report
    show.rows(import_table(report, over), "How the file was read")
    for remark in upload.remarks(clock):
        st.caption(f":material/warning: {literal(remark)}")
    if report.time_unit in PER_SECOND and report.rate:
        st.caption("Is the mean rate plainly wrong? Read the arrivals in another unit:")
        with st.container(horizontal=True):
            for unit in PER_SECOND:
                if unit != report.time_unit:
                    st.button(
                        UNIT_NAMES[unit], key=f"read in {unit}", on_click=_read_in, args=(unit,)
                    )
            if st.session_state.get("time_unit", AS_GIVEN) != AS_GIVEN:
                st.button(AS_GIVEN, key="read as given", on_click=_read_in, args=(AS_GIVEN,))


def _read_in(unit: str) -> None:
    st.session_state["time_unit"] = unit
