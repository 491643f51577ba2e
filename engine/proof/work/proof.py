"""Prices of machine time, as they can be written down and checked by anybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.proof.work.envelope import Envelope


@dataclass(frozen=True, eq=False)
class MachinePrices:
    """What a second of machine time costs, for each envelope.

    Attributes
    ----------
    envelopes : the floors under a round's length that are charged for
    times : (k,) float64, seconds after the first arrival, ascending from 0
    values : (envelopes, k) the prices then, which fall straight between
    width, count : the cells on which the bound was evaluated; 0 after the last
    """

    envelopes: tuple[Envelope, ...]
    times: np.ndarray
    values: np.ndarray
    width: float
    count: int
