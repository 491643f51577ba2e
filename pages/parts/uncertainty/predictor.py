"""The user's own predictor on the Uncertainty page: how it errs, and the margin it needs."""

from __future__ import annotations

import hashlib
import io

import streamlit as st

from engine.figures.predictor import describe_predictor, draw_predictor
from engine.figures.uncertainty import describe_uncertainty, draw_uncertainty
from engine.mode import current_mode
from engine.traces.ceilings import lowered
from engine.uncertainty.axis import AXES, MARGIN
from engine.uncertainty.pairs import FEW, Pairs, calibrate, pairs_of, read_pairs
from engine.uncertainty.resampled import resampled
from engine.uncertainty.words import advices, calibration_in_words, margin_in_words
from pages.parts import show
from pages.parts.jobs import offer
from pages.parts.literal import literal
from pages.parts.store import uploads
from pages.parts.uncertainty.runs import draw_jobs, pooled, study_of
from pages.parts.view import View


def tell_predictor(view: View) -> None:
    """A record to bring, its calibration, and what margin its errors ask for."""
    st.markdown("## Your own predictor")
    st.file_uploader(
        "Predicted and true outputs",
        type=["csv", "txt", "tsv", "gz"],
        key="pairs",
        help="A CSV with the columns predicted and true (tokens), and if it names intervals "
        f"predicted_lo and predicted_hi. At least {FEW} rows.",
    )
    pairs, whose = record(view)
    if pairs is None:
        st.caption(
            "Bring a record of predicted and true output lengths, or pick predictions in the "
            "sidebar: here you see how they err, and which margin they need."
        )
        return
    st.markdown(f"{literal(whose)}: {calibration_in_words(calibrate(pairs))}")
    show.figure(draw_predictor(pairs), describe_predictor(pairs), "predictor")
    _tell_margin(view, pairs)


def record(view: View) -> tuple[Pairs | None, str]:
    """The record that was brought, else that of the predictions in use, and whose it is."""
    if (file := st.session_state.get("pairs")) is not None:
        current_mode().check_upload(file.size)
        file.seek(0)
        st.session_state["pairs_record"] = (file.name, file.getvalue())
    kept = st.session_state.get("pairs_record")
    if kept is not None:
        name, content = kept
        return _read(name, content), name
    if view.workload.is_predicted and len(view.workload) >= FEW:
        return pairs_of(view.workload), "The predictions in use"
    return None, ""


def _read(name: str, content: bytes) -> Pairs:
    file = io.BytesIO(content)
    file.name = name
    digest = hashlib.blake2b(content, digest_size=16).digest()

    def read() -> Pairs:
        with lowered(current_mode().ceilings):
            return read_pairs(file)

    return uploads().get(("pairs", name, digest), read)


def _tell_margin(view: View, pairs: Pairs) -> None:
    """Simulate with errors like these, at every margin."""
    study = study_of(view, MARGIN, resampled(pairs))
    jobs = draw_jobs(view, study, "errors of the record")
    outcome = pooled(jobs)
    st.markdown("### The margin it needs")
    if outcome is not None:
        advised = advices(outcome)
        if advised:
            st.markdown(margin_in_words(advised[0]))
        if advised[1:]:
            with st.expander("The other policies", icon=":material/format_list_bulleted:"):
                st.markdown("  \n".join(margin_in_words(advice) for advice in advised[1:]))
        show.figure(
            draw_uncertainty(outcome, AXES[MARGIN], "latency", view.deployment.unit, [], None),
            describe_uncertainty(outcome, AXES[MARGIN], "latency", view.deployment.unit),
            "margins",
        )
        st.caption(
            "Each request of the scenario is given the relative error of a random one of the "
            "record whose true output is of about the same length."
        )
    offer(jobs, "Simulate its errors" if outcome is None else "Draw more of its errors")
