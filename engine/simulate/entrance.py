"""Who comes when, who is turned away and who gives up: the same for every policy (DESIGN 1.4).

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


class Entrance(NamedTuple):
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


def open_entrance(workload: Workload, order: np.ndarray) -> Entrance:
    """Before the first arrival; `order` is `arrival_order`.

    Raises
    ------
    InputError
        For a closed loop whose clients are turned away or give up.
    """
    n, door = len(workload), workload.door
    arrival = workload.arrival[order]
    now = np.zeros(1, COUNTS)[0]
    now["submitted"] = n
    if workload.concurrency:
        if door.loses_requests:
            raise InputError(
                "the clients of a closed loop wait for their answers: leave out patience and "
                "the queue limit, or the closed loop"
            )
        now["submitted"] = min(workload.concurrency, n)
        arrival = np.where(np.arange(n) < workload.concurrency, 0.0, np.inf)
    return Entrance(
        arrival,
        np.zeros(n, np.int8),
        np.empty(n if door.patience else 0, np.int64),
        door.patience or np.inf,
        door.queue_limit or NEVER,
        now,
    )


@part
def first_waiting(entrance):
    """The first in order of arrival that waits for its first admission; -1 if none does."""
    now, status = entrance.now, entrance.status
    while now.eldest < now.arrived:
        if status[now.eldest] == WAITS:
            return now.eldest
        now.eldest += 1
    return -1


@kernel
def next_to_give_up(entrance):
    """The first moment at which one more has given up if nobody is admitted; or infinity."""
    if entrance.patience == np.inf:
        return np.inf
    i = first_waiting(entrance)
    return np.inf if i < 0 else np.nextafter(entrance.arrival[i] + entrance.patience, np.inf)


@kernel
def next_to_come(entrance):
    """When the next request comes; infinity if none does."""
    arrived = entrance.now.arrived
    return entrance.arrival[arrived] if arrived < entrance.arrival.size else np.inf


@part
def _lose_patience(entrance, moment):
    now = entrance.now
    while next_to_give_up(entrance) <= moment:
        entrance.status[now.eldest] = GAVE_UP
        entrance.quitters[now.gave_up] = now.eldest
        now.gave_up += 1
        now.unserved += 1
        now.waiting -= 1


@kernel
def see(entrance, moment):
    """Let come and go those who do so up to a moment."""
    now, arrival = entrance.now, entrance.arrival
    while now.arrived < arrival.size and arrival[now.arrived] <= moment:
        _lose_patience(entrance, arrival[now.arrived])
        if now.waiting < entrance.queue_limit:
            now.waiting += 1
        else:
            entrance.status[now.arrived] = TURNED_AWAY
            now.unserved += 1
        now.arrived += 1
    _lose_patience(entrance, moment)


@kernel
def let_in(entrance, i):
    """Request i, which waits, is admitted for the first time."""
    entrance.status[i] = ADMITTED
    entrance.now.waiting -= 1


@kernel
def send_next(entrance, moment):
    """One has finished: in a closed loop the next request comes at this moment."""
    now = entrance.now
    if now.submitted < entrance.arrival.size:
        entrance.arrival[now.submitted] = moment
        now.submitted += 1


def who_left(entrance: Entrance, order: np.ndarray) -> np.ndarray | None:
    """(n,) int8, by workload index: GAVE_UP, TURNED_AWAY or other; None if all were served."""
    if not entrance.now["unserved"]:
        return None
    status = np.empty_like(entrance.status)
    status[order] = entrance.status
    return status


def as_it_came(workload: Workload, entrance: Entrance, order: np.ndarray) -> np.ndarray:
    """(n,) float64, by workload index: when each request came."""
    arrival = np.empty(len(workload))
    arrival[order] = entrance.arrival
    return arrival
