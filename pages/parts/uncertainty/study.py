"""A study along one axis, on the Uncertainty page: the answer, the lines, the table."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from engine import wording
from engine.demand.predictions import EXACT, MODELS, Interval, LognormalError, Predictions
from engine.errors import InputError
from engine.figures.uncertainty import METRICS, describe_uncertainty, draw_uncertainty
from engine.uncertainty.axis import AXES, MARGIN
from engine.uncertainty.break_even import break_evens
from engine.uncertainty.pooled import Pooled
from engine.uncertainty.remarks import remarks
from engine.uncertainty.resampled import resampled
from engine.uncertainty.study import Study
from engine.uncertainty.words import (
    OWN_PREDICTIONS,
    break_evens_in_words,
    errors_in_words,
    headline,
    long_table,
    table,
)
from pages.parts import show
from pages.parts.jobs import NothingYet, offer
from pages.parts.link import linked
from pages.parts.uncertainty.predictor import record
from pages.parts.uncertainty.runs import current_model, draw_jobs, pooled, study_of
from pages.parts.view import View


def tell_study(view: View) -> None:
    """What to vary and what to look at, the answer, the chart, the table."""
    if not view.choices:
        raise NothingYet("Pick a policy in the sidebar.")
    opening = st.empty()
    axis, metric = _ask()
    study = study_of(view, axis, _model(view, axis))
    jobs = draw_jobs(view, study, "the sidebar's errors")
    outcome = pooled(jobs)
    if outcome is None:
        opening.info("On this workload that takes a while: start it when you like.")
        offer(jobs, "Run the study")
        return
    opening.markdown(f"# {headline(outcome, study.axis)}")
    _caveats(view, study, outcome)
    show.figure(
        draw_uncertainty(
            outcome,
            study.axis,
            metric,
            view.deployment.unit,
            break_evens(outcome),
            _now(view, axis),
        ),
        describe_uncertainty(outcome, study.axis, metric, view.deployment.unit),
        "uncertainty",
    )
    draws = (
        "1 draw" if len(outcome.draws) == 1 else f"{len(outcome.draws)} draws, 95 % bands of means"
    )
    st.caption(
        f"{study.axis.means} {draws} of {wording.count(outcome.draws[0].requests)} requests. "
        "A cross: the policy stops paying. Hollow: overloaded, latencies grow with the horizon."
    )
    offer(jobs, "Draw more, for bands")
    show.rows(table(outcome, study.axis), f"Mean latency ({view.deployment.unit}) by policy")
    st.caption(
        f"Mean latency in {view.deployment.unit}. Gaps are against a certified bound for "
        "schedules that know the true outputs."
    )
    show.download("The study (CSV)", "uncertainty.csv", lambda: long_table(outcome))


def _ask() -> tuple[str, str]:
    titles = {
        "error": "Error", "bias": "Bias", "width": "Width", MARGIN: "Margin",
    }  # fmt: skip
    looks = {"latency": "Mean latency", "preemptions": "Preemptions",
             "wasted": "Wasted tokens", "gap": "Gap to the bound"}  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        axis = st.segmented_control(
            "Vary", AXES, format_func=titles.__getitem__, required=True,
            **linked("axis", "error", options=AXES),
        )  # fmt: skip
        metric = st.selectbox(
            "Show",
            METRICS,
            format_func=looks.__getitem__,
            width=240,
            **linked("wrong", "latency", options=METRICS),
        )
    return axis, metric


def _model(view: View, axis: str) -> Predictions:
    """The predictions beside what is varied; a margin is for predictions that err.

    Those chosen, else those of an uploaded record, else an assumption.
    """
    model = current_model(view)
    if axis != MARGIN or model.key != "exact":
        return model
    pairs = None
    with suppress(InputError):  # told where the record is asked for
        pairs, _ = record(view)
    return LognormalError() if pairs is None else resampled(pairs)


def _in_words(view: View, model: Predictions) -> str:
    """What errs in a study of margins, and whose choice that was."""
    chosen, whose = current_model(view), OWN_PREDICTIONS
    if model.key not in MODELS and chosen.key in MODELS:
        _, whose = record(view)
    return errors_in_words(model, whose, chosen == EXACT)


def _now(view: View, axis: str) -> float | None:
    """Where the sidebar's predictions stand on the axis."""
    model = current_model(view)
    if isinstance(model, LognormalError):
        return {"error": model.spread, "bias": model.bias}.get(axis)
    return model.width if isinstance(model, Interval) and axis == "width" else None


def _caveats(view: View, study: Study, outcome: Pooled) -> None:
    """When predictions stop paying, and what is left out."""
    if pays := break_evens_in_words(outcome, study.axis):
        st.markdown(pays)
    errors = _in_words(view, study.model) if study.axis.key == MARGIN else ""
    choices = [*study.experiment.choices, *view.choices]
    left = [choice for choice in dict.fromkeys(choices) if choice not in study.affordable]
    show.remarks(remarks(outcome, study, errors, left))
