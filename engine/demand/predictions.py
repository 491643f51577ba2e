"""What is known of output lengths before they are generated: models of predictors.

A model turns true outputs into a point prediction and an interval for each request.
Policies see these, memory follows the truth (docs/model.md 1.4). All that is drawn is one uniform
number a request, which goes through our own inverse laws (engine/demand/laws.py says why): the
i-th request's prediction stays the same whatever else changes, and a larger spread or width
scales the same errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from engine.errors import InputError
from engine.fields import build, number_in, number_of
from engine.workload import MAX_TOKENS, Workload

STREAM = 1000  # of the predictions among the streams of a seed; others count from 0


class PredictedLengths(NamedTuple):
    """Predicted outputs: (n,) int64 each, tokens from 1 on, with low <= high."""

    point: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Predictions(Protocol):
    """A model of a predictor: a frozen dataclass whose fields are numbers or choices.

    `key` is the name users type, `title` the one they read, `meaning` one sentence on it.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    meaning: ClassVar[str]

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths | None:
        """Predictions of the workload's outputs; None where they are the outputs."""


def _tokens(values: np.ndarray) -> np.ndarray:
    return np.clip(values, 1, MAX_TOKENS).astype(np.int64)


def _certain(point: np.ndarray) -> PredictedLengths:
    """A predictor that names no interval: it is as short as can be."""
    return PredictedLengths(point, point, point)


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (low + high) // 2


@dataclass(frozen=True)
class Exact:
    """Every policy knows every output."""

    key: ClassVar[str] = "exact"
    title: ClassVar[str] = "Known exactly"
    meaning: ClassVar[str] = "Policies that use output lengths know them."

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths | None:
        return None


@dataclass(frozen=True)
class LognormalError:
    """output * bias * exp(spread * z), z standard normal, rounded.

    Attributes
    ----------
    bias : median of predicted over true
    spread : standard deviation of the logarithm of predicted over true
    """

    bias: float = 1.0
    spread: float = 0.5

    key: ClassVar[str] = "lognormal"
    title: ClassVar[str] = "Off by a random factor"
    meaning: ClassVar[str] = (
        "Predicted over true output is lognormal: its median is the bias, its logarithm has the "
        "spread as standard deviation (0.5: two in three are within a factor of 1.65)."
    )

    def __post_init__(self) -> None:
        number_in("bias", self.bias, 0.01, 100)
        number_in("spread", self.spread, 0, 5)

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths | None:
        from scipy.special import ndtri  # slow to import

        factor = self.bias * (np.exp(self.spread * ndtri(uniform)) if self.spread else 1.0)
        return _certain(_tokens(np.rint(workload.output * factor)))


@dataclass(frozen=True)
class Interval:
    """An interval around the truth, which lies anywhere in it; the point is its middle.

    Attributes
    ----------
    width : length of the interval over the true output, before its ends are rounded outwards
        and the lower one is kept at 1 or more
    """

    width: float = 1.0

    key: ClassVar[str] = "interval"
    title: ClassVar[str] = "Within an interval"
    meaning: ClassVar[str] = (
        "An interval holds the true output, which lies anywhere in it; its width is relative to "
        "the true output. Policies that want one number see the middle."
    )

    def __post_init__(self) -> None:
        number_in("width", self.width, 0, 100)

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths | None:
        below = uniform * self.width * workload.output
        above = self.width * workload.output - below
        # Whole tokens first: a rounding error in a product must not leave out the truth.
        low = _tokens(workload.output - np.ceil(below))
        high = _tokens(workload.output + np.ceil(above))
        return PredictedLengths(_between(low, high), low, high)


EDGES = ("mid", "upper")


@dataclass(frozen=True)
class Bucket:
    """The right one of bins 1 .. size, size+1 .. 2 size, and so on.

    Attributes
    ----------
    size : tokens
    edge : which number of the bin is the point: `mid` or `upper`
    """

    size: int = 100
    edge: str = "mid"

    key: ClassVar[str] = "bucket"
    title: ClassVar[str] = "In a bin"
    meaning: ClassVar[str] = (
        "The predictor names the right bin of outputs and no more; policies that want one number "
        "see the middle of the bin, or its upper edge."
    )

    def __post_init__(self) -> None:
        size = number_in("size", self.size, 1, MAX_TOKENS, whole=True)
        object.__setattr__(self, "size", size)
        if self.edge not in EDGES:
            raise InputError(f"edge must be one of {', '.join(EDGES)}, got {self.edge}")

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths | None:
        low = (workload.output - 1) // self.size * self.size + 1
        high = _tokens(low + self.size - 1)
        return PredictedLengths(high if self.edge == "upper" else _between(low, high), low, high)


@dataclass(frozen=True)
class ClassMean:
    """The mean output of the request's class in this workload, whatever the request."""

    key: ClassVar[str] = "class-mean"
    title: ClassVar[str] = "The mean of its class"
    meaning: ClassVar[str] = "All requests of a class are predicted its mean output."

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths | None:
        count = np.bincount(workload.class_of)
        total = np.bincount(workload.class_of, workload.output)
        mean = np.rint(total / np.maximum(count, 1))
        return _certain(_tokens(mean)[workload.class_of])


@dataclass(frozen=True)
class Nothing:
    """No prediction: plans reckon with one token more than there are.

    The interval reaches from 1 to the longest output of the workload, which stands for the
    limit on outputs that a server has.
    """

    key: ClassVar[str] = "none"
    title: ClassVar[str] = "Not at all"
    meaning: ClassVar[str] = (
        "Nothing is predicted: plans reckon with the next token and no further, so that look-ahead "
        "admits on present use, as vLLM does. Intervals reach from 1 to the longest output."
    )

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths | None:
        low = np.ones(len(workload), np.int64)
        return PredictedLengths(low, low, np.full(len(workload), workload.output.max()))


EXACT = Exact()
MODELS: dict[str, type[Predictions]] = {
    model.key: model for model in (Exact, LognormalError, Interval, Bucket, ClassMean, Nothing)
}


def read_predictions(text: str | Predictions) -> Predictions:
    """`lognormal:bias=1.2,spread=0.5` as a model; a model as it is.

    Raises
    ------
    InputError
        Naming the model or the field, and what it may be.
    """
    for model in MODELS.values():
        if isinstance(text, model):
            return text
    key, _, rest = str(text).partition(":")
    if key not in MODELS:
        raise InputError(f"unknown predictions {key}: choose from {', '.join(MODELS)}")
    record = {}
    for part in rest.split(",") if rest else ():
        name, equals, value = part.partition("=")
        if not equals or not value:
            raise InputError(f"predictions must look like lognormal:spread=0.5, got {text}")
        record[name.strip()] = number_of(value.strip())
    return build(MODELS[key], record, f"predictions {key}")


def write_predictions(model: Predictions) -> str:
    """The text that `read_predictions` reads as this model; for any other model its key."""
    if model.key not in MODELS:
        return model.key
    fields = [
        f"{name}={value if isinstance(value, str) else format(value, '.12g')}"
        for name, value in vars(model).items()
    ]
    return f"{model.key}:{','.join(fields)}" if fields else model.key


def with_predictions(workload: Workload, model: Predictions, seed: int = 0) -> Workload:
    """The workload as this predictor foresees it; what was predicted before is forgotten.

    Parameters
    ----------
    seed : of the predictions; the workload's own requests stay
    """
    draw = np.random.Generator(np.random.PCG64(seed).jumped(STREAM)).random
    lengths = model.lengths(workload, draw(len(workload)))
    if lengths is None:
        return replace(workload, predicted=None, predicted_lo=None, predicted_hi=None)
    point, low, high = lengths
    return replace(workload, predicted=point, predicted_lo=low, predicted_hi=high)
