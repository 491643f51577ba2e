"""Those who wait for their first admission or again, in a fixed order of all requests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import part
from engine.simulate.arrival_queue import (
    arrival_order,
    count_quitters,
    next_newcomer,
    quitter,
)
from engine.simulate.waiting import add_waiting, empty_waiting, remove_waiting
from engine.workload import Workload


class Ranks(NamedTuple):
    """Who waits, in policy order.

    Attributes
    ----------
    rank : (n,) int64, each request's place in the order
    who : (n,) int64, the request at each place
    waiting : the places of those who wait (engine/simulate/waiting.py)
    """

    rank: np.ndarray
    who: np.ndarray
    waiting: np.ndarray


def ranks_of(workload: Workload, order: np.ndarray) -> Ranks:
    """Nobody waits yet. `order`: (n,) int64, workload indices, first choice first."""
    n = len(workload)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    rank = place[arrival_order(workload)]
    return Ranks(rank, np.argsort(rank), empty_waiting(n))


@part
def update_waiting(server, ranks):
    """Those that have come wait, and those who have given up do no longer."""
    arrival_queue = server.arrival_queue
    for k in range(count_quitters(arrival_queue)):
        i = quitter(arrival_queue, k)
        remove_waiting(ranks.waiting, ranks.rank[i])
    i = next_newcomer(arrival_queue, 0)
    while i >= 0:
        add_waiting(ranks.waiting, ranks.rank[i])
        i = next_newcomer(arrival_queue, i + 1)
