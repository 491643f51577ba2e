"""Those who wait, by a key that can change while they wait.

A binary heap of request indices in the server's `queue`, the least key first and of equal
keys the one that arrived first, which also remembers where each request stands, so that one
whose key falls can move up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel
from engine.simulate.server import see_arrivals, wait_for_arrival


class Line(NamedTuple):
    """What orders the queue.

    Attributes
    ----------
    key : (n,) float64, each request's key; the least is served first
    place : (n,) int64, where in the heap each waiting request is
    """

    key: np.ndarray
    place: np.ndarray


def new_line(key: np.ndarray) -> Line:
    """An empty line; `key` (n,) is copied."""
    return Line(key.astype(float), np.empty(len(key), np.int64))


@kernel
def goes_before(line, one, other):
    """Whether request `one` is served before `other`."""
    first, second = line.key[one], line.key[other]
    return first < second or (first == second and one < other)


@kernel
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


@kernel
def line_up(server, line, i):
    """Request i begins to wait."""
    now = server.now
    line.place[i] = now.queued
    server.queue[now.queued] = i
    now.queued += 1
    move_up(server, line, i)


@kernel
def new_arrivals(server):
    """See who has arrived; an empty server with nobody waiting goes to the next arrival.

    Those who have come are the requests from the returned one on, up to the server's count.
    """
    now = server.now
    before = now.arrived
    see_arrivals(server)
    if now.running == 0 and now.queued == 0 and now.arrived == before:
        wait_for_arrival(server)
    return before


@kernel
def line_up_arrivals(server, line):
    """Those that have arrived wait."""
    for i in range(new_arrivals(server), server.now.arrived):
        line_up(server, line, i)


@kernel
def call_next(server, line):
    """The first in line waits no longer."""
    queue, place, now = server.queue, line.place, server.now
    first = queue[0]
    now.queued -= 1
    size = now.queued
    last = queue[size]
    at, below = 0, 1
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
    return first
