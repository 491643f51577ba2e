"""Those who wait, by a key that can change while they wait.

A binary heap of request indices in the server's `queue`, the least key first and of equal
keys the one that arrived first, which also remembers where each request stands, so that one
whose key falls can move up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import part
from engine.simulate.arrival_queue import WAITS
from engine.simulate.server import has_quit


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
    """An empty line; `key` (n,) is copied."""
    return PriorityQueue(key.astype(float), np.empty(len(key), np.int64))


@part
def goes_before(line, one, other):
    """Whether request `one` is served before `other`."""
    first, second = line.key[one], line.key[other]
    return first < second or (first == second and one < other)


@part
def move_up(server, line, i):
    """Request i, which waits, has got a smaller key."""
    queue, place = server.queue, line.place
    at = place[i]
    while at > 0:
        above = (at - 1) >> 1
        if not goes_before(line, i, queue[above]):
            break
        queue[at] = queue[above]
        place[queue[at]] = at
        at = above
    queue[at] = i
    place[i] = at


@part
def enqueue(server, line, i):
    """Request i begins to wait."""
    now = server.now
    line.place[i] = now.queued
    server.queue[now.queued] = i
    now.queued += 1
    move_up(server, line, i)


@part
def leave_queue(server, line, i):
    """Request i waits no longer."""
    queue, place, now = server.queue, line.place, server.now
    now.queued -= 1
    size = now.queued
    last, at = queue[size], place[i]
    below = 2 * at + 1
    while below < size:
        if below + 1 < size and goes_before(line, queue[below + 1], queue[below]):
            below += 1
        if not goes_before(line, queue[below], last):
            break
        queue[at] = queue[below]
        place[queue[at]] = at
        at, below = below, 2 * below + 1
    queue[at] = last
    place[last] = at
    move_up(server, line, last)


@part
def dequeue(server, line):
    """The first in line waits no longer."""
    first = server.queue[0]
    leave_queue(server, line, first)
    return first


@part
def enqueue_arrivals(server, line):
    """Those that have come wait, and those who have given up do no longer."""
    come, now = server.arrival_queue.now, server.now
    for k in range(now.gave_up_before, come.gave_up):
        i = has_quit(server, k)
        if i >= 0:
            leave_queue(server, line, i)
    for i in range(now.arrived_before, come.arrived):
        if server.arrival_queue.status[i] == WAITS:
            enqueue(server, line, i)
