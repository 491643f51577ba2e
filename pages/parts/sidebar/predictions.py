"""What policies are told of output lengths, in the sidebar."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from engine import Scenario, Workload
from engine.demand.predictions import (
    EDGES,
    EXACT,
    MODELS,
    Bucket,
    Interval,
    LognormalError,
    Predictions,
    with_predictions,
)
from engine.demand.source import Source
from pages.parts.fold import Fold
from pages.parts.link import linked
from pages.parts.store import store

AS_GIVEN = "as-given"
PREDICTION_SETTINGS = ("predict", "bias", "spread", "width", "bin", "edge")


def ask_predictions(source: Source) -> Source:
    """The requests, or what draws them, with the predictions that are chosen."""
    usual_model = source.predict if isinstance(source, Scenario) else EXACT
    titles = {key: model.title for key, model in MODELS.items()}
    usual = usual_model.key
    if isinstance(source, Workload) and source.is_predicted:
        titles, usual = {AS_GIVEN: "Predicted as the trace says", **titles}, AS_GIVEN
    with Fold(st.expander, "Predicted outputs", icon=":material/casino:") as fold:
        key = fold.control(st.selectbox)(
            "Policies know output lengths",
            titles,
            format_func=titles.__getitem__,
            help="Policies see predictions, memory follows the true lengths. "
            + "  \n".join(f"**{model.title}**: {model.meaning}" for model in MODELS.values()),
            **linked("predict", usual, options=titles),
        )
        if key == AS_GIVEN:
            return source
        usual_model = usual_model if usual_model.key == key else MODELS[key]()
        model = _ask_model(usual_model, fold)
    if isinstance(source, Scenario):
        return replace(source, predict=model)
    logged = source
    return store().get(("predicted", logged, model), lambda: with_predictions(logged, model, 0))


def predicting(parameter: str, value: float) -> dict[str, str | float]:
    """The settings that give a parameter of predictions a value; empty for others."""
    if parameter == "error":
        return {"predict": LognormalError.key, "spread": value}
    return {"predict": Interval.key, "width": value} if parameter == "width" else {}


def _ask_model(usual: Predictions, fold: Fold) -> Predictions:
    """A model of the same kind, with the numbers that are set."""
    if isinstance(usual, LognormalError):
        return LognormalError(
            _ask(fold, "bias", "Bias (median of predicted over true)", usual.bias, 0.01, 100.0),
            _ask(fold, "spread", "Spread (of the logarithm)", usual.spread, 0.0, 5.0),
        )
    if isinstance(usual, Interval):
        title = "Width of the interval (of the true output)"
        return Interval(_ask(fold, "width", title, usual.width, 0.0, 100.0))
    if isinstance(usual, Bucket):
        size = fold.control(st.number_input)(
            "Tokens in a bin", 1, 10**6, **linked("bin", usual.size, int, low=1, high=10**6)
        )
        edge = fold.control(st.segmented_control)(
            "Taken as", EDGES, required=True, **linked("edge", usual.edge, options=EDGES)
        )
        return Bucket(size, edge)
    return usual


def _ask(fold: Fold, name: str, label: str, default: float, low: float, high: float) -> float:
    return fold.control(st.number_input)(
        label, low, high, step=0.1, **linked(name, default, float, low=low, high=high)
    )
