"""A predictor that errs as a record of one does.

A request is given the relative error of a random pair whose true output is of about its own
length: short and long outputs are often predicted unlike well. Pairs are grouped by true output, at
most ten groups of at least thirty.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from engine.demand.predictions import PredictedLengths
from engine.uncertainty.pairs import FEW, Pairs
from engine.workload import MAX_TOKENS, Workload

GROUPS = 10


@dataclass(frozen=True)
class Resampled:
    """The errors of a record; equal records are equal models.

    Attributes
    ----------
    digest : of the record
    pairs : the record
    """

    digest: str
    pairs: Pairs = field(compare=False, repr=False)

    key: ClassVar[str] = "own"
    title: ClassVar[str] = "My own predictor"
    meaning: ClassVar[str] = "Errors are drawn from a record of predicted and true outputs."

    def lengths(self, workload: Workload, uniform: np.ndarray) -> PredictedLengths:
        """As for the models of engine/demand/predictions.py."""
        pairs = self.pairs
        by_true = np.lexsort((pairs.ratio, pairs.true))
        count = min(GROUPS, max(1, len(pairs) // FEW))
        first = np.arange(count) * len(pairs) // count
        size = np.diff(np.append(first, len(pairs)))
        true = pairs.true[by_true]
        border = np.sqrt(true[first[1:] - 1] * true[first[1:]])  # half way, by factors
        group = np.searchsorted(border, workload.output, side="right")
        pick = by_true[first[group] + (uniform * size[group]).astype(np.int64)]
        point, low, high = (
            _tokens(workload.output * (column[pick] / pairs.true[pick]))
            for column in (pairs.predicted, pairs.low, pairs.high)
        )
        return PredictedLengths(point, low, high)


def _tokens(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), 1, MAX_TOKENS).astype(np.int64)


def resampled(pairs: Pairs) -> Resampled:
    """The model of a record."""
    content = hashlib.sha256()
    for column in (pairs.true, pairs.predicted, pairs.low, pairs.high):
        content.update(column.tobytes())
    return Resampled(content.hexdigest()[:16], pairs)
