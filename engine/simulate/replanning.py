"""Look-ahead admission along a plan that is made anew as requests come and go.

At a decision the plan's next requests start while they fit. The plan is dropped when
requests have arrived since it was made, and when its next request does not fit although
others have started since; then a new one is made from all that wait. A plan is made
batch by batch, as far as it is needed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.progress import Progress
from engine.simulate.profile import earliest_fit, insert
from engine.simulate.run import Run, visible_rounds
from engine.workload import Workload

Batch = Callable[[np.ndarray], np.ndarray]


class _Memory:
    """The profile of what runs (engine/simulate/profile.py)."""

    def __init__(self, workload: Workload, memory: int) -> None:
        groups = min(len(workload), int(workload.output.max())) + 1
        self.x, self.alive, self.slack = (np.empty(groups, np.int64) for _ in range(3))
        self.first = groups
        self.memory = memory
        self.prompt, self.output = workload.prompt.tolist(), workload.output.tolist()

    def settle(self, now: int) -> None:
        while self.first < self.x.size and self.x[self.first] <= now:
            self.first += 1

    def start(self, i: int, now: int) -> int:
        """Start request i if it fits at `now`; the earliest round at which it does."""
        profile = (self.x, self.alive, self.slack, self.first, self.memory)
        lengths = (self.prompt[i], self.output[i])
        at, after = earliest_fit(*profile, *lengths, now)
        if at == now:
            self.first = insert(*profile, *lengths, now, after)
        return at


def replanning(workload: Workload, memory: int, batch: Batch, progress: Progress) -> Run:
    """Run the requests under the rule above, in rounds.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    batch : from the (m,) waiting request indices, ascending, the next ones to start, in order
    """
    n = len(workload)
    visible = visible_rounds(workload.arrival)
    by_arrival = np.argsort(visible, kind="stable")
    running = _Memory(workload, memory)
    start = np.full(n, -1, np.int64)
    arrived = started = 0
    plan: list[int] = []
    planned_at = -1  # how many had started when the present plan was begun
    now = int(visible[by_arrival[0]])
    while started < n:
        running.settle(now)
        while arrived < n and visible[by_arrival[arrived]] <= now:
            arrived += 1
            plan = []
        next_decision = int(visible[by_arrival[arrived]]) if arrived < n else None
        while started < arrived:
            if not plan:
                waiting = by_arrival[:arrived]
                waiting = np.sort(waiting[start[waiting] < 0])
                plan = batch(waiting)[::-1].tolist()
                planned_at = started
            at = running.start(plan[-1], now)
            if at == now:
                start[plan.pop()] = now
                started += 1
            elif started > planned_at:
                plan = []
            else:
                next_decision = at if next_decision is None else min(at, next_decision)
                break
        progress(started / n)
        if next_decision is not None:
            now = next_decision
    return Run(workload, memory, start, start + workload.output)
