"""Those who wait, by a key that can change while they wait.

A binary heap of request indices in the server's `queue`, the least key first, which also
remembers where each request stands, so that one whose key falls can move up.
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
    key : (n,) int64, each request's key, no two the same; the least is served first
    place : (n,) int64, where in the heap each waiting request is
    """

    key: np.ndarray
    place: np.ndarray


def new_line(key: np.ndarray) -> Line:
    """An empty line; `key` (n,) is copied."""
    return Line(key.astype(np.int64), np.empty(len(key), np.int64))


@kernel
def move_up(server, line, i):
    """Request i, which waits, has got a smaller key."""
    queue, key, place = server.queue, line.key, line.place
    at = place[i]
    while at > 0:
        above = (at - 1) >> 1
        if key[queue[above]] <= key[i]:
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
def line_up_arrivals(server, line):
    """Those that have arrived wait; an empty server with nobody waiting goes to the next one."""
    now = server.now
    before = now.arrived
    see_arrivals(server)
    if now.running == 0 and now.queued == 0 and now.arrived == before:
        wait_for_arrival(server)
    for i in range(before, now.arrived):
        line_up(server, line, i)


@kernel
def call_next(server, line):
    """The first in line waits no longer."""
    queue, key, place, now = server.queue, line.key, line.place, server.now
    first = queue[0]
    now.queued -= 1
    size = now.queued
    last = queue[size]
    at, below = 0, 1
    while below < size:
        if below + 1 < size and key[queue[below + 1]] < key[queue[below]]:
            below += 1
        if key[last] <= key[queue[below]]:
            break
        queue[at] = queue[below]
        place[queue[at]] = at
        at, below = below, 2 * below + 1
    queue[at] = last
    place[last] = at
    return first
