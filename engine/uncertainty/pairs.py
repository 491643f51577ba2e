"""A predictor's record: what it predicted and what came, and how well these agree."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import BinaryIO

import numpy as np

from engine.errors import InputError
from engine.traces.columns import Number, TokenColumn
from engine.traces.head import look
from engine.traces.opened import Opened
from engine.traces.opening import open_bytes
from engine.traces.rows import Field, read_rows
from engine.workload import MAX_TOKENS, Workload

FEW = 30  # pairs: below, a record says little
FIELDS = (
    Field("true", ("true", "output", "actual", "true_output", "output_tokens"), TokenColumn()),
    Field(
        "predicted",
        ("predicted", "prediction", "predicted_output", "expected"),
        Number(0, MAX_TOKENS, f"a number of tokens from 0 to {MAX_TOKENS:,}"),
    ),
    Field("low", ("predicted_lo", "lo", "low", "lower"), Number(0, MAX_TOKENS), optional=True),
    Field("high", ("predicted_hi", "hi", "high", "upper"), Number(0, MAX_TOKENS), optional=True),
)


@dataclass(frozen=True, eq=False)
class Pairs:
    """k requests of a predictor.

    Attributes
    ----------
    true, predicted : (k,) float64, tokens, >= 1
    low, high : (k,) float64, the interval it named; `predicted` where it named none
    """

    true: np.ndarray
    predicted: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __len__(self) -> int:
        return len(self.true)

    @property
    def has_intervals(self) -> bool:
        return bool((self.low < self.high).any())

    @property
    def ratio(self) -> np.ndarray:
        """(k,) predicted over true."""
        return self.predicted / self.true


@dataclass(frozen=True)
class Calibration:
    """How a predictor errs.

    Attributes
    ----------
    pairs : how many requests
    bias : median of predicted over true
    mean_bias : all that was predicted over all that came
    spread : standard deviation of the logarithm of predicted over true
    short : share of requests that became longer than predicted
    within : share predicted within a factor of 1.5 either way
    coverage : share of true outputs inside their intervals; None without intervals
    """

    pairs: int
    bias: float
    mean_bias: float
    spread: float
    short: float
    within: float
    coverage: float | None


def calibrate(pairs: Pairs) -> Calibration:
    """Compare what was predicted with what came."""
    logarithm = np.log(pairs.ratio)
    inside = (pairs.low <= pairs.true) & (pairs.true <= pairs.high)
    return Calibration(
        pairs=len(pairs),
        bias=float(np.median(pairs.ratio)),
        mean_bias=float(pairs.predicted.sum() / pairs.true.sum()),
        spread=float(logarithm.std()),
        short=float((pairs.predicted < pairs.true).mean()),
        within=float((np.abs(logarithm) <= np.log(1.5)).mean()),
        coverage=float(inside.mean()) if pairs.has_intervals else None,
    )


def groups(pairs: Pairs, most: int = 10) -> list[np.ndarray]:
    """Indices of about equally many pairs each, by ascending prediction, for a curve."""
    order = np.argsort(pairs.predicted, kind="stable")
    return [part for part in np.array_split(order, min(most, max(1, len(pairs) // FEW)))]


def pairs_of(workload: Workload) -> Pairs:
    """What a workload's predictions say of its outputs."""
    columns = (workload.output, workload.expected, workload.at_least, workload.at_most)
    return Pairs(*(column.astype(float) for column in columns))


def read_pairs(source: str | PathLike | BinaryIO) -> Pairs:
    """The record in a table with columns for the predicted and the true output.

    Raises
    ------
    InputError
        Naming the column that is missing, the first bad row, or too few rows.
    """
    with open_bytes(source) as file:
        opened = Opened(file, look(file))
        with opened.stack:
            if opened.head.kind != "table":
                raise InputError("predictions must be a CSV with columns predicted and true")
            rows = read_rows(opened.table(quoted=True), FIELDS, strict=True)
    columns = rows.columns
    if ("low" in columns) != ("high" in columns):
        raise InputError("an interval needs both columns, predicted_lo and predicted_hi")
    predicted = np.maximum(columns["predicted"], 1.0)
    low = np.maximum(columns.get("low", predicted), 1.0)
    high = np.maximum(columns.get("high", predicted), 1.0)
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        raise InputError(f"row {crossed[0] + 1}: predicted_lo is above predicted_hi")
    if len(predicted) < FEW:
        raise InputError(f"{len(predicted)} pairs say too little: give at least {FEW}")
    return Pairs(columns["true"].astype(float), predicted, low, high)
