"""A long time axis cut where the server rests, so that no bound pays for rounds without requests.

*Why the parts may be bounded one by one.* Take any run and look only at the requests of one
part: they are served within M, at their own times, so their total latency is no less than
a lower bound for them alone. Summed over the parts, each with its own requests, that bounds the
total latency of the run, wherever it was cut and whatever the run did with its KV caches.

*Why little is lost.* A cut is made only where a fluid server of M has served all volume that
came before, and every request could be complete, a while before the next one comes.

*Shorter rests, for prices that never rise.* Such prices (engine/proof/dual) pay for all memory of
a rest before a crowd, so for them every rest of the fluid is worth a cut (`between_rests`), and
none loses anything: let lam never rise, and cut at b into A, whose first decision is at f and
whose volume V the fluid has served by b, V <= M (b - f), and B. Price A at max(0, lam - lam[b])
and B at lam. Each request of A pays at most its volume times lam[b] less than before wherever it
starts, and A pays for M (b - f) lam[b] less memory, so L(A) + L(B) >= L. Parts that are merged
again keep V <= M (b - f), so this holds for any number of cuts. Prices that may rise gain nothing
by a cut but smaller problems.

*What no cut at a rest mends.* The LP of runs that keep their caches never falls as a request is
added: leave its starts out, and what is left obeys the LP without it. The LP of prices that never
rise is like that only while its first decision stays the same. A request that fills the rest before
a crowd leaves no rest to cut at, and memory that it could have used by then counts as saved for the
crowd. Of twenty (1, 2) at 4 with M = 20 the row of every run says 69.63; with a (15, 5) at 0, whose
fluid lasts until they come, it says 49.67, though the parts by themselves prove 69.63 + 5. To leave
out each request in turn, or to cut where little of the fluid is left, would take one more LP each.

Each part counts its rounds from its own first arrival, so a log in epoch seconds costs no more
than one that begins at 0. Arrivals are shifted by whole rounds not above them, without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from engine.memory_curve import memory_curve
from engine.simulate.schedule import Schedule, visible_rounds
from engine.workload import Workload

REST = 200  # rounds without a request that are worth a cut
SHORT = 1e-5  # of the time that a fluid takes: so is a rest of it, for prices that never rise,
MOST_SHORT = 200  # if it is one of the longest so many


@dataclass(frozen=True, eq=False)
class BusyPeriod:
    """Some of a workload's requests, those that arrive from `begin` to the next period's.

    Attributes
    ----------
    which : (m,) int64, ascending, their indices in the workload
    begin : the round from which `workload` counts
    workload : the requests, arrivals counted from there
    is_crowded : they do not all fit in M when each starts as soon as it is there
    """

    which: np.ndarray
    begin: int
    workload: Workload
    is_crowded: bool


@lru_cache(maxsize=2)  # a page asks for the same requests again and again
def busy_periods(workload: Workload, memory: int) -> list[BusyPeriod]:
    """The parts of a workload in order of time; neighbours that are not crowded count as one."""
    if not _is_crowded(workload, memory):
        return [_period(workload, np.arange(len(workload)), False)]
    order = np.argsort(visible_rounds(workload.arrival), kind="stable")
    ordered = workload.take(order)
    visible = visible_rounds(ordered.arrival)
    complete = np.maximum.accumulate(visible + ordered.output)
    rest = visible[1:] - np.maximum(_served_by(ordered, memory), complete)[:-1]
    return _parts(workload, memory, order, rest >= REST)


def between_rests(period: BusyPeriod, memory: int) -> list[BusyPeriod]:
    """The same requests in parts, cut at the rests of a fluid that are worth it, in order of time.

    `which` are places in the period's workload; `begin` counts as the period's does.
    """
    workload = period.workload
    order = np.argsort(workload.arrival, kind="stable")
    ordered = workload.take(order)
    rest = visible_rounds(ordered.arrival)[1:] - _served_by(ordered, memory)[:-1]
    # Who arrives within a round is seen with who arrived before its end, and is of the same part.
    apart = np.floor(ordered.arrival[1:]) > ordered.arrival[:-1]
    worth = (rest >= SHORT * float((workload.volume / memory).sum())) & apart
    longest = np.argsort(-np.where(worth, rest, -1.0), kind="stable")[:MOST_SHORT]
    cut = np.zeros(len(rest), bool)
    cut[longest] = worth[longest]
    return [
        replace(part, begin=period.begin + part.begin)
        for part in _parts(workload, memory, order, cut)
    ]


def _parts(workload: Workload, memory: int, order: np.ndarray, cut: np.ndarray) -> list[BusyPeriod]:
    """Cut after places in the order; where neither neighbour can be crowded they stay together."""
    first = np.append(0, 1 + np.flatnonzero(cut))
    may_crowd = np.add.reduceat(workload.peak[order], first) > memory
    kept = may_crowd | np.append(True, may_crowd[:-1])
    parts = np.split(order, first[kept][1:])
    return [
        _period(workload, np.sort(which), may)
        for which, may in zip(parts, may_crowd[kept].tolist(), strict=True)
    ]


def _served_by(ordered: Workload, memory: int) -> np.ndarray:
    """(n,) float64: when a fluid has served all up to each request, in order of arrival."""
    visible = visible_rounds(ordered.arrival)
    served = np.cumsum(ordered.volume / memory)
    idle = np.maximum.accumulate(visible - np.append(0.0, served[:-1]))
    return served + idle


def _period(workload: Workload, which: np.ndarray, may_crowd: bool) -> BusyPeriod:
    begin = int(np.floor(workload.arrival[which].min()))
    part = workload if begin == 0 and len(which) == len(workload) else workload.take(which)
    if begin > 0:
        part = replace(part, arrival=part.arrival - begin)
    return BusyPeriod(which, begin, part, may_crowd)


def _is_crowded(workload: Workload, memory: int) -> bool:
    visible = visible_rounds(workload.arrival)
    at_once = Schedule(workload, memory, visible, visible + workload.output)
    return memory_curve(at_once).peak > memory
