"""Look-ahead admission: start a request only if no later round can overflow.

At each decision the waiting requests are walked once in policy order; each one
that fits, now and at every completion still to come, starts. The walk passes
over up to `skip` that do not fit and stops at the next (DESIGN 2). With skip 0
this is the prefix rule of MC-SF (arXiv 2502.07115, Algorithm 1).

The kernel jumps from decision to decision. What makes that exact: running
requests keep their memory to their known end, so until something new starts
the earliest start of a waiting request does not change, and a start can only
move it later. It is computed once, remembered in `not_before`, and the clock
jumps to the smallest one among the requests the walk can see, or to the next
arrival.
"""

from __future__ import annotations

import numpy as np

from engine.compiled import kernel
from engine.simulate.profile import earliest_fit, insert
from engine.simulate.run import Run, visible_rounds
from engine.simulate.waiting import (
    add_waiting,
    empty_waiting,
    fill_waiting,
    next_waiting,
    remove_waiting,
)
from engine.workload import Workload

NEVER = np.iinfo(np.int64).max


@kernel
def _look_ahead_starts(visible, prompt, output, by_arrival, memory, skip, groups):
    """(n,) int64 start rounds; all inputs are indexed by rank in policy order.

    `by_arrival` lists the ranks by ascending `visible`; `groups` is the most
    completion times that can be alive at once.
    """
    n = prompt.size
    start = np.empty(n, np.int64)
    not_before = visible.copy()
    x = np.empty(groups + 1, np.int64)
    alive = np.empty(groups + 1, np.int64)
    slack = np.empty(groups + 1, np.int64)
    first = x.size

    waiting = empty_waiting(n)
    arrived = 0
    now = visible[by_arrival[0]]
    if visible[by_arrival[n - 1]] == now:
        fill_waiting(waiting, n)
        arrived = n

    started = 0
    while started < n:
        while arrived < n and visible[by_arrival[arrived]] <= now:
            add_waiting(waiting, by_arrival[arrived])
            arrived += 1
        while first < x.size and x[first] <= now:
            first += 1
        next_decision = visible[by_arrival[arrived]] if arrived < n else NEVER
        passed_over = 0
        rank = next_waiting(waiting, 0)
        while rank >= 0:
            fits = False
            if not_before[rank] <= now:
                not_before[rank], after = earliest_fit(
                    x, alive, slack, first, memory, prompt[rank], output[rank], now
                )
                fits = not_before[rank] == now
            if fits:
                first = insert(
                    x, alive, slack, first, memory, prompt[rank], output[rank], now, after
                )
                start[rank] = now
                started += 1
                remove_waiting(waiting, rank)
            else:
                next_decision = min(next_decision, not_before[rank])
                passed_over += 1
                if passed_over > skip:
                    break
            rank = next_waiting(waiting, rank + 1)
        now = next_decision
    return start


def look_ahead(workload: Workload, memory: int, order: np.ndarray, skip: int = 0) -> Run:
    """Run the requests in `order` under look-ahead admission, in rounds.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    order : (n,) permutation of request indices, first choice first
    skip : how many waiting requests a walk may pass over

    Returns
    -------
    Run in which nothing ever gives up its KV cache.
    """
    visible = visible_rounds(workload.arrival)[order]
    starts = _look_ahead_starts(
        visible,
        workload.prompt[order],
        workload.output[order],
        np.argsort(visible, kind="stable"),
        memory,
        skip,
        min(len(workload), int(workload.output.max())),
    )
    start = np.empty_like(starts)
    start[order] = starts
    return Run(workload, memory, start, start + workload.output, order=order, skip=skip)
