"""Prices as whole numbers, so that the dual function is evaluated without any rounding.

Prices are cut down to multiples of a unit 2^-bits of a round. The cut prices are
prices like any others, so the bound they give is a true one, and it is computed in
whole numbers: there is no rounding error to allow for. Sums of units may leave
int64 on the way, which does no harm: int64 adds and multiplies modulo 2^64, so a
result is right whenever it fits itself. `bits` is chosen so that these fit:

- a price: below 2^53 units, so that it is also exact as a float64;
- f(k) - (o + ceil(a) - a), the delay and charge of a start k in rounds 0 .. T:
  below T + vmax * max lam rounds, vmax the largest volume, hence below 2^63 units;
- where prices are convex, less is computed (see cheapest.py): the least f, at most T
  rounds, and S <= (omax + 1) / 2 rounds, hence more bits: T + omax + 2 rounds fit.

The cut moves L by at most the unit times sum_t |M - used[t]|, used being the memory
held by cheapest starts; convex prices sum up cuts, T units at most. Worst are requests
of one volume: a part in 10^8 at n = T = 1,000,000 and volume 160,000, 1.6 in 10^7 at
volume 16,500,000; on mixed lengths it was below 10^-14 at n = 100,000. Prices of
more than T + 1 rounds are lowered to it, which raises L: in a round that dear no
request wants to run, as waiting until no price is left costs at most T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.simulate.schedule import visible_rounds
from engine.workload import Workload

EXACT_FLOAT = 53
WORD = 63


@dataclass(frozen=True, eq=False)
class UnitPrices:
    """Prices of T rounds in units of 2^-bits of a round.

    Attributes
    ----------
    units : (T + 2,) int64; units[t] is the price of round first + t, t = 1 .. T; 0 at both ends
    bits : the unit is 2^-bits of a round
    first : the first decision of all, min ceil(a); nothing runs before it
    convex : prices fall all the time, by less and less
    """

    units: np.ndarray
    bits: int
    first: int
    convex: bool

    @property
    def never_rise(self) -> bool:
        return bool((np.diff(self.units[1:]) <= 0).all())

    @property
    def prices(self) -> np.ndarray:
        """(first + T + 1,) float64, the same prices by round, exactly."""
        return np.concatenate([np.zeros(self.first), np.ldexp(self.units[:-1], -self.bits)])


def first_decision(workload: Workload) -> int:
    """The first round at whose start a request is known."""
    return int(visible_rounds(workload.arrival).min())


def check_rounds(last: float, most: int) -> int:
    """`last` rounded up; InputError where that is more rounds than can have a price each."""
    if last > most:
        raise InputError(
            f"every round has a price, in at most {most:,} rounds, but these requests need "
            f"{last:,.0f}: use fewer requests, a larger M or longer rounds"
        )
    return math.ceil(last)


def in_units(workload: Workload, prices: np.ndarray) -> UnitPrices:
    """Cut prices (by round, finite, >= 0) to the finest unit that is exact for this workload.

    Raises
    ------
    InputError
        When a price is negative or not finite.
    """
    prices = np.asarray(prices, np.float64)
    if not (np.isfinite(prices) & (prices >= 0)).all():
        raise InputError("prices of memory must be finite numbers from 0 on")
    first = first_decision(workload)
    later = np.trim_zeros(prices[first + 1 :], "b")
    dearest = min(len(later) + 1, 2.0 ** (WORD - 2) / float(workload.volume.max()))
    later = np.minimum(later, dearest)
    bits = _bits_if_convex(workload, later)
    units = _cut(later, bits)
    if _is_convex(units):
        return UnitPrices(units, bits, first, convex=True)
    bits = _bits(workload, later)
    return UnitPrices(_cut(later, bits), bits, first, convex=False)


def convex_prices(workload: Workload, falls: np.ndarray) -> np.ndarray:
    """Prices by round that fall by `falls`, cut so that no rounding bends them.

    Parameters
    ----------
    falls : (T,) float64 >= 0, never rising: how much the price falls from each round after
        the first decision to the next; after the last of these rounds it is 0

    Returns
    -------
    (first + T + 1,) float64, the price by round; `in_units` finds it convex.
    """
    bits = _bits_if_convex(workload, falls, top=falls.sum())
    units = np.minimum.accumulate(np.floor(np.ldexp(falls, bits)))
    later = np.ldexp(np.cumsum(units[::-1])[::-1], -bits)
    return np.concatenate([np.zeros(first_decision(workload) + 1), later])


def _room(top: float, rounds: int) -> int:
    """The most bits with which `top` is an exact float64 and `rounds` rounds fit in int64."""
    return min(EXACT_FLOAT - math.frexp(top)[1], WORD - rounds.bit_length())


def _bits_if_convex(workload: Workload, later: np.ndarray, top: float | None = None) -> int:
    top = later.max(initial=0) if top is None else top
    return _room(top, len(later) + int(workload.output.max()) + 2)


def _bits(workload: Workload, later: np.ndarray) -> int:
    top = later.max(initial=0)
    return _room(top, len(later) + int(np.ceil(workload.volume.max() * top)))


def _cut(later: np.ndarray, bits: int) -> np.ndarray:
    units = np.zeros(len(later) + 2, np.int64)
    units[1:-1] = np.ldexp(later, bits)
    return units


def _is_convex(units: np.ndarray) -> bool:
    falls = -np.diff(units[1:])
    return bool((falls >= 0).all() and (np.diff(falls) <= 0).all())
