"""Prices of machine time, as they can be written down and checked by anybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.proof.work.envelope import Envelope

# What a checker takes, who cannot know where prices come from; those written here ask for much
# less. Effort is cells times groups of tokens times envelopes.
MAX_CELLS = 1_000_000
MAX_EFFORT = 5 * 10**10


@dataclass(frozen=True, eq=False)
class MachinePrices:
    """What a second of machine time costs the requests of one part, for each envelope.

    Attributes
    ----------
    begin : seconds after the first arrival of all; the part's requests arrive from then until
        the next part begins
    envelopes : the floors under a round's length that are charged for
    times : (k,) float64, seconds after the part's begin, ascending from 0
    values : (envelopes, k) the prices then, which fall straight between
    width, count : the cells on which the bound was evaluated; 0 after the last
    """

    begin: float
    envelopes: tuple[Envelope, ...]
    times: np.ndarray
    values: np.ndarray
    width: float
    count: int
