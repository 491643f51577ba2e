"""What a backlog looks like at the fluid's prices: the losses that guide the search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.proof.dual import convex_prices, evaluate
from engine.proof.fluid import backlog_falls
from engine.workload import Workload


class Guide(NamedTuple):
    """A backlog in order of volume, with prices of memory.

    prompt, output : (n,) int64, tokens
    upto, weighted : (T + 1,) float64, sums over rounds of the price, and of round times price
    least : (n,) float64, what the cheapest start costs
    cheapest : (n,) int64, which start that is
    later : (n,) int64, the least of `cheapest` from this request on
    """

    prompt: np.ndarray
    output: np.ndarray
    upto: np.ndarray
    weighted: np.ndarray
    least: np.ndarray
    cheapest: np.ndarray
    later: np.ndarray


def guide_of(workload: Workload, memory: int) -> tuple[Guide, np.ndarray]:
    """The guide of a backlog and the order of its requests.

    Prices are convex, so that what a start costs rises from the cheapest one on: the
    least loss of a request that still waits at t is that of starting at t.
    """
    order = workload.ascending(workload.volume)
    dual = evaluate(
        workload, memory, convex_prices(workload, backlog_falls(workload.volume, memory))
    )
    cheapest = dual.start[order]
    guide = Guide(
        workload.prompt[order],
        workload.output[order],
        np.cumsum(dual.prices),
        np.cumsum(dual.prices * np.arange(len(dual.prices))),
        dual.least[order],
        cheapest,
        np.minimum.accumulate(cheapest[::-1])[::-1].copy(),
    )
    return guide, order


@kernel
def loss_of_start(guide, i, start):
    """What starting request i there costs above its cheapest start, rounds."""
    last = guide.upto.size - 1
    begin, end = min(start, last), min(start + guide.output[i], last)
    charge = (guide.prompt[i] - start) * (guide.upto[end] - guide.upto[begin])
    charge += guide.weighted[end] - guide.weighted[begin]
    return start + guide.output[i] + charge - guide.least[i]


@part
def price_of_idle(guide, memory, used, rising, begin, end):
    """The price of free memory over rounds begin+1 .. end, where memory `rising` a round
    reaches `used` tokens at `end`."""
    last = guide.upto.size - 1
    if begin >= last:
        return 0.0
    stop = min(end, last)
    price = guide.upto[stop] - guide.upto[begin]
    weighted = guide.weighted[stop] - guide.weighted[begin]
    return price * (memory - used + rising * end) - rising * weighted
