"""Prices from a fluid schedule: nearly the best ones, at any number of requests.

Replace the requests by a fluid: their volumes are served one at a time at rate M
token-rounds a round, the least volume of those that have come first, dropping it
for a lesser one that comes. This is the best a fluid can do (the preemptive
mean-busy-time relaxation; Goemans et al., SIAM J. Discrete Math. 15, 2002), and its
dual prices are nearly best for the requests too. While i is in service at t the
price lies on i's line u_i - t / v_i: served a round later, i's v_i token-rounds
would gain 1 in price and lose 1 in latency. Lines meet where one request completes
and another that waited goes on, and the price is 0 when nothing is left; that
determines every u_i, from the end backwards.

*All there at once*: the price falls by 1 / M over each request in service, so it
runs straight through the points (completion of the j-th, (n - j) / M). It is convex
and never rises: one bound for every run.

*Arrivals*: the price jumps up when a lesser volume comes and is served at once, as
before that moment memory was of no use to it. These prices bound runs that keep
their KV cache. The least prices above them that never rise bound every run.

Any prices give a bound, so nothing above needs proof here. What requests are and a
fluid is not (they last at least o rounds, however small) makes these prices too high
where few requests wait; hence they are scaled by eighths, down to 0, where the bound
is the sum of all outputs. L is concave in the scale: the search stops at the first fall, which
the cheapest starts foretell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.compiled import kernel
from engine.progress import Progress, silent
from engine.proof.dual import Dual, check_rounds, convex_prices, evaluate
from engine.simulate.schedule import visible_rounds
from engine.simulate.waiting import add_waiting, empty_waiting, next_waiting, remove_waiting
from engine.workload import Workload

EIGHTHS = np.arange(7, -1, -1) / 8
ROUNDING = 1e-9  # of L, far more than what rounding adds to a difference of two of its values
MAX_ROUNDS = 30_000_000  # some 2 GB of prices and their sums


@kernel
def _serve(visible, volume, by_arrival, memory):
    """The fluid schedule, for requests in order of volume; by_arrival lists them by `visible`.

    Returns
    -------
    request, begin, end, completes : (m,), m <= 2n stretches of service in order of time, rounds
    """
    n = volume.size
    request = np.empty(2 * n, np.int64)
    begin = np.empty(2 * n)
    end = np.empty(2 * n)
    completes = np.empty(2 * n, np.bool_)
    left = volume / memory
    waiting = empty_waiting(n)
    stretches = completed = arrived = 0
    moment = 0.0
    while completed < n:
        if next_waiting(waiting, 0) < 0:
            moment = max(moment, float(visible[by_arrival[arrived]]))
        while arrived < n and visible[by_arrival[arrived]] <= moment:
            add_waiting(waiting, by_arrival[arrived])
            arrived += 1
        i = next_waiting(waiting, 0)
        until = moment + left[i]
        completes[stretches] = arrived == n or until <= visible[by_arrival[arrived]]
        if completes[stretches]:
            remove_waiting(waiting, i)
            completed += 1
        else:
            until = float(visible[by_arrival[arrived]])
            left[i] -= until - moment
        request[stretches], begin[stretches], end[stretches] = i, moment, until
        stretches += 1
        moment = until
    return request[:stretches], begin[:stretches], end[:stretches], completes[:stretches]


@kernel
def _line_prices(request, begin, end, completes, volume, rounds):
    """(rounds + 1,) float64: the price at the end of every round, just before arrivals."""
    price = np.zeros(rounds + 1)
    line = np.empty(volume.size)  # u
    later_begin = later_price = 0.0
    for stretch in range(request.size - 1, -1, -1):
        i = request[stretch]
        if completes[stretch]:
            goes_on = later_begin == end[stretch]
            line[i] = end[stretch] / volume[i] + (later_price if goes_on else 0.0)
        for t in range(int(begin[stretch]) + 1, int(end[stretch]) + 1):
            price[t] = max(0.0, line[i] - t / volume[i])
        later_begin = begin[stretch]
        later_price = line[i] - later_begin / volume[i]
    return price


def rounds_at_most(workload, memory: int) -> float:
    """No fluid schedule takes longer: the last arrival, then all volume."""
    return float(workload.arrival.max()) + 1 + float((workload.volume / memory).sum())


def backlog_falls(volume: np.ndarray, memory: int) -> np.ndarray:
    """(rounds,) float64: by how much the price falls after each round, all being there at once."""
    completion = np.append(0.0, np.cumsum(np.sort(volume) / memory))
    rounds = check_rounds(completion[-1], MAX_ROUNDS)
    left = np.arange(len(volume), -1, -1) / memory
    price = np.interp(np.arange(1.0, rounds + 2), completion, left)
    return -np.diff(price)


def arrival_prices(visible: np.ndarray, volume: np.ndarray, memory: int) -> np.ndarray:
    """(rounds + 1,) float64: the fluid's price by round; rises where requests arrive."""
    order = np.argsort(volume, kind="stable")
    by_arrival = np.argsort(visible[order], kind="stable")
    request, begin, end, completes = _serve(visible[order], volume[order], by_arrival, memory)
    rounds = check_rounds(end[-1], MAX_ROUNDS)
    return _line_prices(request, begin, end, completes, volume[order], rounds)


def all_at_once(visible: np.ndarray) -> bool:
    """Whether every request is there from the same round on."""
    return bool((visible == visible[0]).all())


def fluid_duals(workload: Workload, memory: int, progress: Progress = silent) -> list[Dual]:
    """The dual function at the fluid's prices, scaled for the best.

    The first is for runs that keep their KV cache; the last, at prices that never rise, for
    every run. They are one where all requests are there at once.

    Raises
    ------
    InputError
        Where the fluid takes too many rounds.
    """
    visible = visible_rounds(workload.arrival)
    if all_at_once(visible):
        falls = backlog_falls(workload.volume, memory)
        return [_best_scale(workload, memory, lambda x: convex_prices(workload, x * falls))]
    prices = arrival_prices(visible, workload.volume, memory)
    never_rising = np.maximum.accumulate(prices[::-1])[::-1]
    kept = _best_scale(workload, memory, lambda x: x * prices)
    progress(0.5)
    return [kept, _best_scale(workload, memory, lambda x: x * never_rising)]


def _best_scale(workload, memory: int, scaled: Callable[[float], np.ndarray]) -> Dual:
    best = evaluate(workload, memory, scaled(1.0))
    for scale in EIGHTHS:
        if _falls_below(best, workload, memory):
            break
        dual = evaluate(workload, memory, scaled(scale))
        if dual.value <= best.value:
            break
        best = dual
    return best


def _falls_below(dual: Dual, workload: Workload, memory: int) -> bool:
    """Whether L is surely less at an eighth less of these prices, which need not be evaluated.

    With x times the prices and the starts that are cheapest now, what L adds up is a + x g, where
    g is what memory costs those who start then, less all memory at its price. No starts that are
    cheapest at x cost more than these do, so L there is at most its value here + (x - 1) g.
    """
    latency = dual.start + workload.output - workload.arrival
    g = float((dual.least - latency).sum() - memory * dual.prices.sum())
    return g > ROUNDING * dual.value
