"""Those who wait, by a key that can change while they wait.

A binary heap of request indices in the server's `queue`, the least key first and of equal
keys the one that arrived first, which also remembers where each request stands, so that one
whose key falls can move up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import part
from engine.simulate.arrival_queue import count_quitters, next_newcomer, quitter


class PriorityQueue(NamedTuple):
    """What orders the queue.

    Attributes
    ----------
    key : (n,) float64, each request's key; the least is served first
    place : (n,) int64, where in the heap each waiting request is
    """

    key: np.ndarray
    place: np.ndarray


def new_priority_queue(key: np.ndarray) -> PriorityQueue:
    """An empty queue; `key` (n,) is copied."""
    return PriorityQueue(key.astype(float), np.empty(len(key), np.int64))


@part
def goes_before(priority_queue, i, j):
    """Whether request i is served before j."""
    first, second = priority_queue.key[i], priority_queue.key[j]
    return first < second or (first == second and i < j)


@part
def move_up(server, priority_queue, i):
    """Request i, which waits, has got a smaller key."""
    queue, place = server.queue, priority_queue.place
    at = place[i]
    while at > 0:
        above = (at - 1) >> 1
        if not goes_before(priority_queue, i, queue[above]):
            break
        queue[at] = queue[above]
        place[queue[at]] = at
        at = above
    queue[at] = i
    place[i] = at


@part
def enqueue(server, priority_queue, i):
    """Request i begins to wait."""
    state = server.state
    priority_queue.place[i] = state.queued
    server.queue[state.queued] = i
    state.queued += 1
    move_up(server, priority_queue, i)


@part
def remove_from_queue(server, priority_queue, i):
    """Request i waits no longer."""
    queue, place, state = server.queue, priority_queue.place, server.state
    state.queued -= 1
    size = state.queued
    last, at = queue[size], place[i]
    below = 2 * at + 1
    while below < size:
        if below + 1 < size and goes_before(priority_queue, queue[below + 1], queue[below]):
            below += 1
        if not goes_before(priority_queue, queue[below], last):
            break
        queue[at] = queue[below]
        place[queue[at]] = at
        at, below = below, 2 * below + 1
    queue[at] = last
    place[last] = at
    move_up(server, priority_queue, last)


@part
def dequeue(server, priority_queue):
    """The first in the queue waits no longer."""
    first = server.queue[0]
    remove_from_queue(server, priority_queue, first)
    return first


@part
def enqueue_arrivals(server, priority_queue):
    """Those that have come wait, and those who have given up do no longer."""
    arrival_queue = server.arrival_queue
    for k in range(count_quitters(arrival_queue)):
        remove_from_queue(server, priority_queue, quitter(arrival_queue, k))
    i = next_newcomer(arrival_queue, 0)
    while i >= 0:
        enqueue(server, priority_queue, i)
        i = next_newcomer(arrival_queue, i + 1)
