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
from engine.simulate.timetable import NEVER, wait_idle
from engine.workload import Workload

ARRIVAL_COUNTS = np.dtype(
    [
        ("submitted", "i8"),  # how many have a time of arrival
        ("arrived", "i8"),  # how many have come
        ("waiting", "i8"),  # how many wait for their first admission
        ("eldest", "i8"),  # a request before which nobody does
        ("gave_up", "i8"),  # how many have given up
        ("unserved", "i8"),  # how many have given up or were turned away
        ("arrived_before", "i8"),  # how many had come at the last decision
        ("gave_up_before", "i8"),  # how many had given up then
    ]
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
    counts : record of dtype ARRIVAL_COUNTS
    """

    arrival: np.ndarray
    status: np.ndarray
    quitters: np.ndarray
    patience: float
    queue_limit: int
    counts: np.void


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
    counts = np.zeros(1, ARRIVAL_COUNTS)[0]
    counts["submitted"] = n
    if workload.concurrency:
        if admission_limits.loses_requests:
            raise InputError(
                "the clients of a closed loop wait for their answers: leave out patience and "
                "the queue limit, or the closed loop"
            )
        counts["submitted"] = min(workload.concurrency, n)
        arrival = np.where(np.arange(n) < workload.concurrency, 0.0, np.inf)
    return ArrivalQueue(
        arrival,
        np.zeros(n, np.int8),
        np.empty(n if admission_limits.patience else 0, np.int64),
        admission_limits.patience or np.inf,
        admission_limits.queue_limit or NEVER,
        counts,
    )


@part
def first_waiting(arrival_queue):
    """The first in order of arrival that waits for its first admission; -1 if none does."""
    counts, status = arrival_queue.counts, arrival_queue.status
    while counts.eldest < counts.arrived:
        if status[counts.eldest] == WAITS:
            return counts.eldest
        counts.eldest += 1
    return -1


@kernel
def next_to_give_up(arrival_queue):
    """The first moment at which one more has given up if nobody is admitted; or infinity."""
    if arrival_queue.patience == np.inf:
        return np.inf
    i = first_waiting(arrival_queue)
    if i < 0:
        return np.inf
    return np.nextafter(arrival_queue.arrival[i] + arrival_queue.patience, np.inf)


@kernel
def next_arrival(arrival_queue):
    """When the next request comes; infinity if none does."""
    arrived = arrival_queue.counts.arrived
    return arrival_queue.arrival[arrived] if arrived < arrival_queue.arrival.size else np.inf


@part
def all_arrived(arrival_queue):
    """Whether no more requests are due."""
    return arrival_queue.counts.arrived == arrival_queue.arrival.size


@part
def _give_up_until(arrival_queue, moment):
    counts = arrival_queue.counts
    while next_to_give_up(arrival_queue) <= moment:
        arrival_queue.status[counts.eldest] = GAVE_UP
        arrival_queue.quitters[counts.gave_up] = counts.eldest
        counts.gave_up += 1
        counts.unserved += 1
        counts.waiting -= 1


@part
def _arrive_until(arrival_queue, moment):
    """Let come and go those who do so up to a moment."""
    counts, arrival = arrival_queue.counts, arrival_queue.arrival
    is_patient = arrival_queue.patience == np.inf
    while counts.arrived < arrival.size and arrival[counts.arrived] <= moment:
        if not is_patient:
            _give_up_until(arrival_queue, arrival[counts.arrived])
        if counts.waiting < arrival_queue.queue_limit:
            counts.waiting += 1
        else:
            arrival_queue.status[counts.arrived] = TURNED_AWAY
            counts.unserved += 1
        counts.arrived += 1
    _give_up_until(arrival_queue, moment)


@kernel
def receive_arrivals(arrival_queue, round_clock, is_idle):
    """A decision begins: let come and go those who have done so since the last one.

    `is_idle`: nobody who was admitted is still there. If nobody waits either, time passes to
    the next arrival.
    """
    counts = arrival_queue.counts
    counts.arrived_before, counts.gave_up_before = counts.arrived, counts.gave_up
    _arrive_until(arrival_queue, round_clock.state.seconds)
    while is_idle and counts.waiting == 0 and counts.arrived < arrival_queue.arrival.size:
        wait_idle(round_clock, next_arrival(arrival_queue))
        _arrive_until(arrival_queue, round_clock.state.seconds)


@kernel
def has_changed(arrival_queue):
    """Whether anybody has come or given up since the last decision."""
    counts = arrival_queue.counts
    return counts.arrived > counts.arrived_before or counts.gave_up > counts.gave_up_before


@part
def next_newcomer(arrival_queue, i):
    """The first from i on that has come since the last decision and waits; -1 if none has."""
    counts = arrival_queue.counts
    for newcomer in range(max(i, counts.arrived_before), counts.arrived):
        if arrival_queue.status[newcomer] == WAITS:
            return newcomer
    return -1


@part
def count_quitters(arrival_queue):
    """How many waited at the last decision and have given up since; `quitter` says who."""
    counts, end = arrival_queue.counts, arrival_queue.counts.gave_up_before
    while end < counts.gave_up and arrival_queue.quitters[end] < counts.arrived_before:
        end += 1  # they give up in order of arrival
    return end - counts.gave_up_before


@part
def quitter(arrival_queue, k):
    return arrival_queue.quitters[arrival_queue.counts.gave_up_before + k]


@kernel
def mark_admitted(arrival_queue, i):
    """Request i, which waits, is admitted for the first time."""
    arrival_queue.status[i] = ADMITTED
    arrival_queue.counts.waiting -= 1


@kernel
def submit_next(arrival_queue, moment):
    """One has finished: in a closed loop the next request comes at this moment."""
    counts = arrival_queue.counts
    if counts.submitted < arrival_queue.arrival.size:
        arrival_queue.arrival[counts.submitted] = moment
        counts.submitted += 1


def who_left(arrival_queue: ArrivalQueue, order: np.ndarray) -> np.ndarray | None:
    """(n,) int8, by workload index: GAVE_UP, TURNED_AWAY or other; None if all were served."""
    if not arrival_queue.counts["unserved"]:
        return None
    status = np.empty_like(arrival_queue.status)
    status[order] = arrival_queue.status
    return status


def as_it_came(workload: Workload, arrival_queue: ArrivalQueue, order: np.ndarray) -> np.ndarray:
    """(n,) float64, by workload index: when each request came."""
    arrival = np.empty(len(workload))
    arrival[order] = arrival_queue.arrival
    return arrival
