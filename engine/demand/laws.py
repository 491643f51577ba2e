"""Laws of token counts, each as an inverse: a uniform number in [0, 1) goes to a length.

Inverses, because then one uniform number is one length for ever: the same
request keeps its length when shares, rates or policies change, and numpy's own
samplers, which may change between versions, are not used. Results are rounded
to whole tokens, so that the last bits of a logarithm do not matter either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

import numpy as np

from engine.errors import InputError
from engine.fields import build, hold_number, list_in, number_in
from engine.workload import MAX_TOKENS


def _whole(tokens: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip(np.rint(tokens), low, high).astype(np.int64)


def _ascending(name: str, values, low: float, high: float) -> np.ndarray:
    column = np.array([number_in(name, value, low, high) for value in list_in(name, values)])
    if len(column) < 2 or (np.diff(column) < 0).any():
        raise InputError(f"{name} must be two or more numbers in ascending order")
    return column


def _levels(name: str, values) -> np.ndarray:
    levels = _ascending(name, values, 0, 1)
    if levels[0] != 0 or levels[-1] != 1 or (np.diff(levels) == 0).any():
        raise InputError(f"{name} must rise from 0 to 1")
    return levels


@dataclass(frozen=True, eq=False)
class Lognormal:
    """A lognormal law, cut off above `high`, rounded to whole tokens of at least 1.

    Attributes
    ----------
    median : tokens, before the cut
    sigma : standard deviation of the logarithm
    high : tokens, the most a draw can be (at least the median)
    """

    median: float
    sigma: float
    high: int

    def __post_init__(self) -> None:
        number_in("median", self.median, 1, MAX_TOKENS)
        number_in("sigma", self.sigma, 0.001, 10)
        hold_number(self, "high", self.median, MAX_TOKENS, whole=True)

    def tokens(self, uniform: np.ndarray, prompt_uniform: np.ndarray) -> np.ndarray:
        """(n,) int64: the lengths at the (n,) uniform numbers."""
        from scipy.special import ndtr, ndtri  # slow to import

        below_high = ndtr(log(self.high / self.median) / self.sigma)
        return _whole(self.median * np.exp(self.sigma * ndtri(uniform * below_high)), 1, self.high)


@dataclass(frozen=True, eq=False)
class Quantiles:
    """A table of quantiles, straight between them.

    Attributes
    ----------
    levels : (k,) rising from 0 to 1
    values : (k,) tokens at these levels, ascending
    """

    levels: np.ndarray
    values: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", _levels("levels", self.levels))
        object.__setattr__(self, "values", _ascending("values", self.values, 1, MAX_TOKENS))
        if len(self.values) != len(self.levels):
            raise InputError("values must have one number for each of the levels")

    @property
    def high(self) -> int:
        return int(self.values[-1])

    def tokens(self, uniform: np.ndarray, prompt_uniform: np.ndarray) -> np.ndarray:
        """(n,) int64: the lengths at the (n,) uniform numbers."""
        return _whole(np.interp(uniform, self.levels, self.values), 1, self.high)


@dataclass(frozen=True, eq=False)
class QuantilesByPrompt:
    """A table of quantiles for each range of prompt lengths: outputs that depend on prompts.

    Attributes
    ----------
    prompt_levels : (g + 1,) rising from 0 to 1: the prompt quantiles that part the groups
    levels : (k,) rising from 0 to 1
    values : (g, k) tokens at these levels in each group, ascending
    """

    prompt_levels: np.ndarray
    levels: np.ndarray
    values: list

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt_levels", _levels("prompt_levels", self.prompt_levels))
        groups = [Quantiles(self.levels, values) for values in list_in("values", self.values)]
        object.__setattr__(self, "values", groups)
        if len(groups) != len(self.prompt_levels) - 1:
            raise InputError("values must have one row for each group of prompt_levels")

    @property
    def high(self) -> int:
        return max(group.high for group in self.values)

    def tokens(self, uniform: np.ndarray, prompt_uniform: np.ndarray) -> np.ndarray:
        """(n,) int64: the lengths at the (n,) uniform numbers.

        `prompt_uniform` are the numbers that gave the same requests their prompts.
        """
        group = np.searchsorted(self.prompt_levels, prompt_uniform, side="right") - 1
        tokens = np.empty(len(uniform), np.int64)
        for number, quantiles in enumerate(self.values):
            members = group == number
            tokens[members] = quantiles.tokens(uniform[members], prompt_uniform)
        return tokens


LAWS = {
    "lognormal": Lognormal,
    "quantiles": Quantiles,
    "quantiles by prompt": QuantilesByPrompt,
}


def read_law(record: Mapping, place: str):
    """The law that a record describes: its `law` names one of LAWS, the rest are its fields."""
    if not isinstance(record, Mapping) or record.get("law") not in LAWS:
        raise InputError(f"{place}: must be a record whose law is one of: {', '.join(LAWS)}")
    fields = {name: value for name, value in record.items() if name != "law"}
    return build(LAWS[record["law"]], fields, place)
