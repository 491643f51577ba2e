"""Who comes when, is turned away or gives up: the same for every policy (docs/model.md 1.4).

Requests are numbered in order of arrival. Between two decisions nobody is admitted, so what
happened since the last one follows from the arrivals alone, in order of time:

- a request that comes while `queue_limit` others wait for their first admission is turned
  away;
- one that has waited for longer than `patience` gives up. All have the same patience, so
  those who wait give up in order of arrival, and the first of them is the next. One that has
  waited exactly so long is still there: at one moment requests come first, then the server
  decides, and then they give up.

In a closed loop the arrivals are not known beforehand: the next request comes the moment one
finishes. Its clients wait for their answers, so nobody is turned away or gives up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.errors import InputError
from engine.simulate.timetable import NEVER
from engine.workload import Workload

COUNTS = np.dtype(
    [(name, "i8") for name in ("submitted", "arrived", "waiting", "eldest", "gave_up", "unserved")]
)
WAITS, ADMITTED, GAVE_UP, TURNED_AWAY = range(4)


class ArrivalQueue(NamedTuple):
    """The requests on their way in, in order of (arrival, row).

    Attributes
    ----------
    arrival : (n,) float64, clock units; infinite where not known yet
    status : (n,) int8: WAITS (to come, or for the first admission), ADMITTED (once), GAVE_UP
        or TURNED_AWAY
    quitters : those who gave up, in order
    patience : clock units
    queue_limit : how many may wait for their first admission
    now : record of dtype COUNTS: how many have a time of arrival, have arrived, wait for
        their first admission; a request before which nobody does; how many gave up, and
        how many left unserved in all
    """

    arrival: np.ndarray
    status: np.ndarray
    quitters: np.ndarray
    patience: float
    queue_limit: int
    now: np.void


def arrival_order(workload: Workload) -> np.ndarray:
    """(n,) int64: the workload's indices in order of arrival."""
    if workload.concurrency:
        return np.argsort(workload.row)
    return workload.ascending(workload.arrival)


def new_arrival_queue(workload: Workload, order: np.ndarray) -> ArrivalQueue:
    """Before the first arrival; `order` is `arrival_order`.

    Raises
    ------
    InputError
        For a closed loop whose clients are turned away or give up.
    """
    n, admission_limits = len(workload), workload.admission_limits
    arrival = workload.arrival[order]
    now = np.zeros(1, COUNTS)[0]
    now["submitted"] = n
    if workload.concurrency:
        if admission_limits.loses_requests:
            raise InputError(
                "the clients of a closed loop wait for their answers: leave out patience and "
                "the queue limit, or the closed loop"
            )
        now["submitted"] = min(workload.concurrency, n)
        arrival = np.where(np.arange(n) < workload.concurrency, 0.0, np.inf)
    return ArrivalQueue(
        arrival,
        np.zeros(n, np.int8),
        np.empty(n if admission_limits.patience else 0, np.int64),
        admission_limits.patience or np.inf,
        admission_limits.queue_limit or NEVER,
        now,
    )


@part
def first_waiting(arrival_queue):
    """The first in order of arrival that waits for its first admission; -1 if none does."""
    now, status = arrival_queue.now, arrival_queue.status
    while now.eldest < now.arrived:
        if status[now.eldest] == WAITS:
            return now.eldest
        now.eldest += 1
    return -1


@kernel
def next_to_give_up(arrival_queue):
    """The first moment at which one more has given up if nobody is admitted; or infinity."""
    if arrival_queue.patience == np.inf:
        return np.inf
    i = first_waiting(arrival_queue)
    return (
        np.inf if i < 0 else np.nextafter(arrival_queue.arrival[i] + arrival_queue.patience, np.inf)
    )


@kernel
def next_to_come(arrival_queue):
    """When the next request comes; infinity if none does."""
    arrived = arrival_queue.now.arrived
    return arrival_queue.arrival[arrived] if arrived < arrival_queue.arrival.size else np.inf


@part
def _lose_patience(arrival_queue, moment):
    now = arrival_queue.now
    while next_to_give_up(arrival_queue) <= moment:
        arrival_queue.status[now.eldest] = GAVE_UP
        arrival_queue.quitters[now.gave_up] = now.eldest
        now.gave_up += 1
        now.unserved += 1
        now.waiting -= 1


@kernel
def see(arrival_queue, moment):
    """Let come and go those who do so up to a moment."""
    now, arrival = arrival_queue.now, arrival_queue.arrival
    while now.arrived < arrival.size and arrival[now.arrived] <= moment:
        _lose_patience(arrival_queue, arrival[now.arrived])
        if now.waiting < arrival_queue.queue_limit:
            now.waiting += 1
        else:
            arrival_queue.status[now.arrived] = TURNED_AWAY
            now.unserved += 1
        now.arrived += 1
    _lose_patience(arrival_queue, moment)


@kernel
def let_in(arrival_queue, i):
    """Request i, which waits, is admitted for the first time."""
    arrival_queue.status[i] = ADMITTED
    arrival_queue.now.waiting -= 1


@kernel
def send_next(arrival_queue, moment):
    """One has finished: in a closed loop the next request comes at this moment."""
    now = arrival_queue.now
    if now.submitted < arrival_queue.arrival.size:
        arrival_queue.arrival[now.submitted] = moment
        now.submitted += 1


def who_left(arrival_queue: ArrivalQueue, order: np.ndarray) -> np.ndarray | None:
    """(n,) int8, by workload index: GAVE_UP, TURNED_AWAY or other; None if all were served."""
    if not arrival_queue.now["unserved"]:
        return None
    status = np.empty_like(arrival_queue.status)
    status[order] = arrival_queue.status
    return status


def as_it_came(workload: Workload, arrival_queue: ArrivalQueue, order: np.ndarray) -> np.ndarray:
    """(n,) float64, by workload index: when each request came."""
    arrival = np.empty(len(workload))
    arrival[order] = arrival_queue.arrival
    return arrival
