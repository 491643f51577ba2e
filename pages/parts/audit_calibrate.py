"""The round times of the server that a benchmark ran on, on the Audit page."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import streamlit as st

from engine import wording
from engine.calibrate import Benchmark, Fit, fit, read_benchmark, see_rounds
from engine.calibrate.fit import NAMES
from engine.figures.calibration import describe_calibration, draw_calibration
from engine.hardware import DEFAULT
from engine.progress import Progress
from engine.traces.formats import sglang_bench, vllm_bench
from pages.parts import show
from pages.parts.clock_controls import FIELDS
from pages.parts.jobs import Job, finished, offer
from pages.parts.upload import Upload
from pages.parts.view import View

BENCHMARKS = (vllm_bench.NAME, sglang_bench.NAME)
SECONDS_A_REQUEST = 2e-3


def tell_calibration(view: View, upload: Upload | None) -> None:
    """Offered for a benchmark result: its coefficients, how certain, and to use them."""
    if upload is None or upload.report.format not in BENCHMARKS:
        return
    st.markdown("## The round times of that server")
    name, content = st.session_state["upload"]

    def compute(progress: Progress) -> tuple[Benchmark, Fit]:
        bench = read_benchmark(io.BytesIO(content))
        progress(0.5)
        return bench, fit(see_rounds(bench))

    job = Job(
        key=("calibrate", view.workload.digest, name, len(content)),
        title="the calibration",
        seconds=0.1 + SECONDS_A_REQUEST * len(upload.requests),
        compute=compute,
    )
    for bench, found in finished([job]):
        _tell_fit(bench, found)
    offer([job], "Calibrate round times")


def _tell_fit(bench: Benchmark, found: Fit) -> None:
    st.markdown(
        f"{wording.count(len(found.rounds))} rounds of {bench.server or 'the server'} are "
        f"described to {found.error_percent:.2f} % on average."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        show.figure(draw_calibration(found), describe_calibration(found), "calibration")
    with right:
        show.rows(_coefficients(found), "Fitted coefficients of the round times")
        for name, why in found.undecided.items():
            st.caption(f":material/warning: {name} is undecided: {why}.")
        st.code(f"--clock seconds --coefficients {found.text}", language="bash", wrap_lines=True)
        st.button("Use these round times", icon=":material/timer:", on_click=_use, args=(found,))


def _coefficients(found: Fit) -> pd.DataFrame:
    rows = []
    for name, value, error in zip(NAMES, found.step, found.error, strict=True):
        label, units, _ = FIELDS[name]
        sure = f"± {wording.number(2 * error * units)}" if np.isfinite(error) else "undecided"
        rows.append({"Coefficient": label, "Fit": f"{value * units:.5g}", "2 std. errors": sure})
    return pd.DataFrame(rows)


def _use(found: Fit) -> None:
    """Put the fit into the sidebar's fields."""
    if st.session_state["clock"] == "rounds":
        st.session_state["clock"] = DEFAULT
    for (name, (_, units, _)), value in zip(FIELDS.items(), found.step, strict=True):
        st.session_state[name] = float(value * units)
        st.session_state["settings"][name] = float(value * units)
