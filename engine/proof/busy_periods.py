"""A long time axis cut where the server rests, so that no bound pays for rounds without requests.

*Why the parts may be bounded one by one.* Take any run and look only at the requests of one
part: they are served within M, at their own times, so their total latency is no less than
a lower bound for them alone. Summed over the parts, each with its own requests, that bounds the
total latency of the run, wherever it was cut and whatever the run did with its KV caches.

*Why little is lost.* A cut is made only where a fluid server of M has served all volume that
came before, and every request could be complete, a while before the next one comes.

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
    everyone = np.arange(len(workload))
    if not _is_crowded(workload, memory):
        return [_period(workload, everyone, False)]
    visible = visible_rounds(workload.arrival)
    order = np.argsort(visible, kind="stable")
    resting = visible[order][1:] - _done_by(workload.take(order), memory)[:-1]
    first = np.append(0, 1 + np.flatnonzero(resting >= REST))
    may_crowd = np.add.reduceat(workload.peak[order], first) > memory
    kept = may_crowd | np.append(True, may_crowd[:-1])
    parts = np.split(order, first[kept][1:])
    return [
        _period(workload, np.sort(which), may)
        for which, may in zip(parts, may_crowd[kept].tolist(), strict=True)
    ]


def _done_by(ordered: Workload, memory: int) -> np.ndarray:
    """(n,) float64: when the requests up to each one can be done, in order of arrival."""
    visible = visible_rounds(ordered.arrival)
    served = np.cumsum(ordered.volume / memory)
    idle = np.maximum.accumulate(visible - np.append(0.0, served[:-1]))
    return np.maximum(served + idle, np.maximum.accumulate(visible + ordered.output))


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
