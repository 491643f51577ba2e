"""The round times of the server that a benchmark ran on, on the Audit page."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np
import pandas as pd
import streamlit as st

from engine import wording
from engine.calibrate import Benchmark, Fit, fit, fitted_preset, read_benchmark, see_rounds
from engine.calibrate.fit import NAMES
from engine.calibrate.fitted import Served
from engine.calibrate.remarks import remarks
from engine.errors import InputError
from engine.figures.calibration import describe_calibration, draw_calibration
from engine.machine.catalogue import gpus, models
from engine.machine.hardware import DEFAULT
from engine.machine.own_presets import LONGEST_TITLE, save
from engine.machine.preset import Preset
from engine.mode import current_mode
from engine.progress import Progress
from engine.traces.formats import sglang_bench, vllm_bench
from pages.parts import show
from pages.parts.jobs import Job, finished, offer
from pages.parts.link import forget
from pages.parts.literal import literal
from pages.parts.sidebar.clock import FIELDS
from pages.parts.sidebar.upload import Upload, current_file
from pages.parts.view import View

BENCHMARKS = (vllm_bench.NAME, sglang_bench.NAME)
SECONDS_A_REQUEST = 2e-3


def tell_calibration(view: View, upload: Upload | None) -> None:
    """Offered for a benchmark result: its coefficients, how certain, and to use them."""
    if upload is None or upload.report.format not in BENCHMARKS:
        return
    st.markdown("## The round times of that server")
    file = current_file()
    assert file is not None  # an upload comes from one

    def compute(progress: Progress) -> tuple[Benchmark, Fit]:
        bench = read_benchmark(file.opened())
        progress(0.5)
        return bench, fit(see_rounds(bench))

    job = Job(
        key=("calibrate", file.digest),
        title="the calibration",
        seconds=0.1 + SECONDS_A_REQUEST * len(upload.requests),
        compute=compute,
    )
    for bench, fitted in finished([job]):
        _tell_fit(bench, fitted)
        _offer_to_save(file.name, bench, fitted)
    offer([job], "Calibrate round times")


def _tell_fit(bench: Benchmark, fitted: Fit) -> None:
    st.markdown(
        f"{wording.count(len(fitted.rounds))} rounds of "
        f"{literal(bench.server or 'the server')} are "
        f"described to {fitted.error_percent:.2f} % on average."
    )
    show.remarks(remarks(bench, fitted))
    left, right = st.columns(2, gap="medium")
    with left:
        show.figure(draw_calibration(fitted), describe_calibration(fitted), "calibration")
    with right:
        show.rows(_coefficients(fitted), "Fitted coefficients of the round times")
        st.code(f"--clock seconds --coefficients {fitted.text}", language="bash", wrap_lines=True)
        st.button("Use these round times", icon=":material/timer:", on_click=_use, args=(fitted,))


def _offer_to_save(source: str, bench: Benchmark, fitted: Fit) -> None:
    """A name, and what the file does not say of the server, for a preset to keep."""
    mode = current_mode()
    with st.expander("Save as a preset", icon=":material/save:"):
        st.caption(
            f"It then stands under Clock in the sidebar, {mode.audience}"
            + (", and as --hardware on the command line." if mode.is_shared else ".")
        )
        left, right = st.columns(2)
        title = left.text_input("Name", PurePath(source).stem, max_chars=LONGEST_TITLE)
        engine = right.text_input(
            "Engine and version", placeholder=bench.server or "vLLM 0.11", help="What it models."
        )
        model, gpu, parallel = st.columns(3)
        served = Served(
            engine,
            _pick(model, "Model", models(), "Tells the size of its KV cache."),
            _pick(gpu, "GPU", gpus(), "Tells its price on the Capacity page."),
            parallel.number_input("Tensor parallel", 1, 64, 1),
        )
        preset = fitted_preset(title, fitted, source, bench.server, served)
        st.button("Save preset", icon=":material/save:", on_click=_save, args=(preset,))


def _pick(slot, label: str, known: dict, help: str) -> str:
    titles = {"": "Not stated"} | {key: preset.title for key, preset in known.items()}
    return slot.selectbox(label, titles, format_func=titles.__getitem__, help=help)


def _save(preset: Preset) -> None:
    """Keep it and count its seconds."""
    try:
        kept = save(preset)
    except InputError as problem:
        st.toast(literal(problem), icon=":material/edit:")
        return
    st.session_state["clock"] = kept.key
    forget(FIELDS)
    st.toast(f"Saved as {literal(kept.title)}: it is the clock now.", icon=":material/save:")


def _coefficients(fitted: Fit) -> pd.DataFrame:
    rows = []
    for name, value, error in zip(NAMES, fitted.step, fitted.error, strict=True):
        label, units, _ = FIELDS[name]
        sure = f"± {wording.number(2 * error * units)}" if np.isfinite(error) else "undecided"
        rows.append({"Coefficient": label, "Fit": f"{value * units:.5g}", "2 std. errors": sure})
    return pd.DataFrame(rows)


def _use(fitted: Fit) -> None:
    """Put the fit into the sidebar's fields."""
    if st.session_state["clock"] == "rounds":
        st.session_state["clock"] = DEFAULT
    for (name, (_, units, _)), value in zip(FIELDS.items(), fitted.step, strict=True):
        st.session_state[name] = float(value * units)
        st.session_state["settings"][name] = float(value * units)
