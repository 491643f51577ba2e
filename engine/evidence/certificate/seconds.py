"""A bound in seconds, proved by prices of machine time that never rise.

The requests come in parts, by when they arrive; the bounds of parts add up, whichever they
are. In each, for each envelope (engine.proof.work.envelope), the price of a second of
machine time is given at some times after the part's first arrival; between them it falls
straight, after the last it is 0. What is checked is the theorem of engine.proof.work.dual,
on cells of the given width in each of which a price is constant: what it is at the middle. Any
prices that never rise prove something, so nothing about how they were found matters.

The checker shares no code with engine/proof/work. It walks every token of every request: its work
under each envelope, and the time from it to the completion, h whole cells at least; and it
tries every cell for the completion, up to where its latency alone is above the best. Inside a
cell only the latency changes, so its begin is the best there, or the end of the time alone.
A completion so early that the first token came before the part's first arrival is none.

All terms are sums of numbers >= 0, so floats err by few roundings of each, which are taken
off; the rest is added in exact fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from engine.bound import Bound
from engine.errors import InputError
from engine.evidence.certificate.finding import Finding
from engine.evidence.certificate.row import Row
from engine.evidence.certificate.tokens import CheckedTokens, tokens_of
from engine.fields import build, hold_number, list_in, number_in
from engine.machine.clock import Clock, StepTime
from engine.proof.work.proof import MAX_CELLS, MAX_EFFORT, MachinePrices
from engine.workload import Workload

MAX_PRICE = 1e12
MAX_TIME = 1e15  # seconds
MAX_ENVELOPES = 4
ROUNDING = 2.0**-52
AT_ONCE = 4096  # cells tried at a time


@dataclass(frozen=True)
class _Priced:
    """An envelope and its prices as they are written."""

    theta: float
    knee: float
    prices: list[float]

    def __post_init__(self) -> None:
        hold_number(self, "theta", 0, 1)
        hold_number(self, "knee", 0, MAX_PRICE)
        for number, price in enumerate(list_in("prices", self.prices)):
            number_in(f"price {number}", price, 0, MAX_PRICE)


@dataclass(frozen=True)
class _CertificatePart:
    """The cells of the requests from `begin` on, and prices at some times for each envelope."""

    begin: float
    cell: float
    cells: int
    times: list[float]
    envelopes: list[Any]

    def __post_init__(self) -> None:
        hold_number(self, "begin", 0, MAX_TIME)
        hold_number(self, "cell", 1e-300, MAX_TIME)
        hold_number(self, "cells", 1, MAX_CELLS, whole=True)
        for number, time in enumerate(list_in("times", self.times)):
            number_in(f"time {number}", time, 0, MAX_TIME)
        if not self.times or (np.diff(self.times) <= 0).any():
            raise InputError("times must be one or more, each after the one before")
        records = list_in("envelopes", self.envelopes)
        if len(records) > MAX_ENVELOPES:
            raise InputError(f"envelopes must be at most {MAX_ENVELOPES}, there are {len(records)}")
        priced = [build(_Priced, record, f"envelope {k}") for k, record in enumerate(records)]
        if any(len(envelope.prices) != len(self.times) for envelope in priced):
            raise InputError("every envelope must have a price at each of the times")
        object.__setattr__(self, "envelopes", priced)


@dataclass(frozen=True)
class MachineRow(Row):
    """A bound, and the prices that prove it for each part of the requests."""

    parts: list[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        records = list_in("parts", self.parts)
        parts = [build(_CertificatePart, record, f"part {k}") for k, record in enumerate(records)]
        begins = [part.begin for part in parts]
        if not parts or begins[0] != 0 or (np.diff(begins) <= 0).any():
            raise InputError("parts must begin at 0, each after the one before")
        cells = sum(part.cells for part in parts)
        if cells > MAX_CELLS:
            raise InputError(
                f"cells must be at most {MAX_CELLS:,} in all parts together, there are {cells:,}"
            )
        object.__setattr__(self, "parts", parts)


def written(bound: Bound) -> dict:
    """The proof of a bound, as a record."""
    return {"parts": [_written_part(part) for part in bound.machine_prices or ()]}


def _written_part(prices: MachinePrices) -> dict:
    return {
        "begin": prices.begin,
        "cell": prices.width,
        "cells": prices.count,
        "times": prices.times.tolist(),
        "envelopes": [
            {"theta": float(envelope.theta), "knee": float(envelope.knee), "prices": row.tolist()}
            for envelope, row in zip(prices.envelopes, prices.values, strict=True)
        ],
    }


def check_row(row: MachineRow, workload: Workload, memory: int, clock: Clock) -> Finding:
    """Find out what the prices prove.

    Raises
    ------
    InputError
        When that is more work than a bound that is written here can ask for.
    """
    every_run = row.covers_preemption
    proves = all(
        (np.diff(envelope.prices) <= 0).all() and _is_floor(envelope, clock.step, every_run)
        for part in row.parts
        for envelope in part.envelopes
    )
    proved = _proved(row, workload, memory, clock.step) if proves else 0.0
    covers = proves and every_run
    return Finding(row.bound, row.value, proved, covers, proves and row.value <= proved)


def _is_floor(envelope: _Priced, step: StepTime, every_run: bool) -> bool:
    """Whether it is below every round; where prompts may be cut, only a knee of 0 is."""
    if envelope.knee > step.n0 or (every_run and envelope.knee > 0):
        return False
    return step.c0 * (1 + ROUNDING * 8) >= envelope.theta * step.c1 * (step.n0 - envelope.knee)


def _proved(row: MachineRow, workload: Workload, memory: int, step: StepTime) -> float:
    """The dual functions of all parts, rounded down, or 0 where that is less."""
    after = workload.arrival - workload.arrival.min()
    part_of = np.searchsorted([part.begin for part in row.parts], after, side="right") - 1
    walks = []
    for k in np.unique(part_of):
        part, some = row.parts[k], workload.take(part_of == k)
        walks.append(
            _Walk(part, list(tokens_of(some, memory, step, part.envelopes, row.covers_preemption)))
        )
    effort = sum(walk.effort for walk in walks)
    if effort > MAX_EFFORT:
        raise InputError(
            f"cells are too narrow for so many tokens: the check would take {effort:.1e} "
            f"products, and {MAX_EFFORT:.0e} are enough for every bound that is written here"
        )
    exact = max(sum(walk.proved(row.replicas) for walk in walks), Fraction(0))
    proved = float(exact)
    return proved if Fraction(proved) <= exact else float(np.nextafter(proved, -np.inf))


@dataclass(frozen=True, eq=False)
class _Walk:
    """The requests of a part, on its cells."""

    part: _CertificatePart
    tokens: list[CheckedTokens]

    @cached_property
    def group(self) -> float:
        """As many tokens of a request at least take a cell's time; infinite for all of them."""
        shortest = min(token.gap for token in self.tokens)
        alike = np.isfinite(shortest) and shortest > 0
        return float(np.ceil(self.part.cell / shortest)) if alike else np.inf

    def cells_before(self, token: CheckedTokens) -> np.ndarray:
        """(o,) int64: how many cells at least before the completion each token comes."""
        output = token.work.shape[1]
        return np.arange(output)[::-1] // int(min(self.group, output))

    @property
    def effort(self) -> int:
        """Prices to multiply at most: a request's groups and envelopes, at every cell."""
        groups = sum(int(self.cells_before(token)[0]) + 1 for token in self.tokens)
        return (self.part.cells + 1) * groups * len(self.part.envelopes)

    def proved(self, replicas: int) -> Fraction:
        """The dual function of this part, or less."""
        prices = self._prices()
        # fsum is the float next to the sum, so the one after it is no less.
        summed = np.nextafter(math.fsum(prices.ravel()), np.inf) if prices.any() else 0.0
        paid = Fraction(replicas) * Fraction(self.part.cell) * Fraction(float(summed))
        return sum(Fraction(self._least(token, prices)) for token in self.tokens) - paid

    def _prices(self) -> np.ndarray:
        """(envelopes, cells) at the middle of each cell."""
        part = self.part
        middles = (np.arange(part.cells) + 0.5) * part.cell
        prices = np.array(
            [np.interp(middles, part.times, envelope.prices) for envelope in part.envelopes]
        )
        prices = prices.reshape(len(part.envelopes), part.cells)
        prices[:, middles > part.times[-1]] = 0.0
        return np.minimum.accumulate(prices, axis=1)  # interpolation may rise by a rounding

    def _least(self, token: CheckedTokens, prices: np.ndarray) -> float:
        """The least of latency plus price of a request, over its completions, rounded down."""
        width, count = self.part.cell, self.part.cells
        cells_before = self.cells_before(token)
        last = int(cells_before[0])
        work = np.array([np.bincount(cells_before, by_group, last + 1) for by_group in token.work])
        earliest = token.arrival + token.alone
        best, m = np.inf, max(int(earliest / width), last)
        while m <= count + last and max(m * width, earliest) - token.arrival < best:
            cells = np.arange(m, min(m + AT_ONCE, count + last + 1))
            cost = np.maximum(cells * width, earliest) - token.arrival
            for by_group, by_cell in zip(work, prices, strict=True):
                near = by_cell[m - last : cells[-1] + 1]
                near = np.append(near, np.zeros(cells[-1] + 1 - (m - last) - len(near)))
                cost += np.convolve(near, by_group, "valid")
            best, m = min(best, cost.min()), m + AT_ONCE
        if not np.isfinite(best):  # beyond all prices
            best = max(m * width, earliest) - token.arrival
        return best - ROUNDING * ((token.work.shape[1] + 40) * best + 8 * token.arrival)
