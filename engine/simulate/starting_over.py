"""Recovery that learns: the shortest by its lower bound starts over, its bound raised.

While the next round would pass M, the request of the batch with the smallest (lo, arrival,
row) is evicted: it loses its tokens and waits again, and as many as it had generated become
its new lo, if that was smaller (A_min of arXiv 2508.14544).

No livelock. Bounds only rise, and stay below the outputs; so from some eviction on none
changes any more. Of the requests that run infinitely often after that without completing, take
the one with the largest (lo, arrival, row). Once it is admitted it is never evicted: all
others of its batch would go before it, and alone it fits. So it completes.
"""

from __future__ import annotations

from engine.compiled import part
from engine.simulate.server import evict, tokens


@part
def start_over(server, lo):
    """Evict the shortest of the batch by its lower bound, and raise that; who it is."""
    batch, shortest = server.batch, 0
    for place in range(1, server.state.running):
        i, least = batch[place], batch[shortest]
        if lo[i] < lo[least] or (lo[i] == lo[least] and i < least):
            shortest = place
    i = batch[shortest]
    lo[i] = max(lo[i], tokens(server, i))
    return evict(server, shortest, False)
