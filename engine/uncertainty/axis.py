"""What a study varies: how wrong predictions are, or the margin that plans leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.demand.predictions import Interval, LognormalError, Predictions
from engine.errors import InputError

MARGIN = "margin"


@dataclass(frozen=True)
class Axis:
    """One thing to vary.

    Attributes
    ----------
    key, title : the name users type, the name they read, with its unit
    values : ascending, what is tried
    by_factor : whether the values are multiples of one another
    means : one sentence
    model : (value, the predictions in force otherwise) -> those at this value
    """

    key: str
    title: str
    values: tuple[float, ...]
    by_factor: bool
    means: str
    model: Callable[[float, Predictions], Predictions]


def _lognormal(predictions: Predictions) -> LognormalError:
    """Where predictions are of another kind, those that are right but for what is varied."""
    return predictions if isinstance(predictions, LognormalError) else LognormalError(1.0, 0.0)


def _error(value: float, predictions: Predictions) -> Predictions:
    return LognormalError(_lognormal(predictions).bias, value)


def _bias(value: float, predictions: Predictions) -> Predictions:
    return LognormalError(value, _lognormal(predictions).spread)


ERRORS = (*(k / 10 for k in range(11)), 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)
MARGINS = (
    0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08,
    0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6,
)  # fmt: skip

AXES = {
    axis.key: axis
    for axis in (
        Axis(
            "error",
            "prediction error (spread)",
            ERRORS,
            False,
            "The standard deviation of the logarithm of predicted over true output: at 0.5 two "
            "in three predictions are within a factor of 1.65, at 1 within one of 2.7.",
            _error,
        ),
        Axis(
            "bias",
            "predicted over true output (median)",
            tuple(float(f"{2 ** (k / 4):.3g}") for k in range(-9, 11)),
            True,
            "Below 1 outputs are predicted too short, and memory runs out; above 1 too long, "
            "and memory stands idle.",
            _bias,
        ),
        Axis(
            "width",
            "interval width (of the true output)",
            tuple(k / 5 for k in range(20)),
            False,
            "The length of an interval that holds the true output, over the true output. a-max "
            "plans with its upper end, a-min with its lower one, the others with its middle.",
            lambda value, predictions: Interval(value),
        ),
        Axis(
            MARGIN,
            "margin (share of M that plans leave free)",
            MARGINS,
            False,
            "A margin leaves room for outputs longer than predicted, and memory idle meanwhile.",
            lambda value, predictions: predictions,
        ),
    )
}


def find_axis(key: str) -> Axis:
    """The axis called `key`; InputError names the ones there are."""
    if key not in AXES:
        raise InputError(f"unknown axis {key}: choose from {', '.join(AXES)}")
    return AXES[key]
