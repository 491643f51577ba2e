"""Look-ahead admission along a plan that is made anew as requests come and go.

At a decision the plan's next requests start while they fit. The plan is dropped when
requests have arrived since it was made, and when its next request does not fit although
others have started since; then a new one is made from all that wait. A plan is made
batch by batch, as far as it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from engine.clock import Clock
from engine.progress import Progress
from engine.simulate.look_ahead import run_batch
from engine.simulate.profile import earliest_fit, insert, new_profile
from engine.simulate.run import Run
from engine.simulate.timetable import NEVER, new_watch, timetable_of, wait_idle
from engine.workload import Workload

Batch = Callable[[np.ndarray], np.ndarray]


class _Memory:
    """The profile of what runs (engine/simulate/profile.py)."""

    def __init__(self, workload: Workload, memory: int) -> None:
        self.profile = new_profile(min(len(workload), int(workload.output.max())) + 1)
        self.first = self.profile.x.size
        self.memory = memory
        self.prompt, self.output = workload.prompt.tolist(), workload.output.tolist()

    def start(self, i: int, now: int) -> int:
        """Start request i if it fits at `now`; the earliest round at which it does."""
        profile = (*self.profile, self.first, self.memory)
        lengths = (self.prompt[i], self.output[i])
        at, after = earliest_fit(*profile, *lengths, now)
        if at == now:
            self.first = insert(*profile, *lengths, now, after)
        return at

    @property
    def is_empty(self) -> bool:
        return self.first == self.profile.x.size

    @property
    def batch(self) -> int:
        """How many are running."""
        return 0 if self.is_empty else int(self.profile.alive[self.first])


def replanning(
    workload: Workload, memory: int, batch: Batch, clock: Clock, progress: Progress
) -> Run:
    """Run the requests under the rule above.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    batch : from the (m,) waiting request indices, ascending, the next ones to start, in order
    """
    n = len(workload)
    arrival, submitted = workload.arrival.copy(), n
    by_arrival = np.argsort(arrival, kind="stable")
    if workload.concurrency:
        by_arrival, submitted = np.argsort(workload.row), min(workload.concurrency, n)
        arrival[:] = 0.0
    running = _Memory(workload, memory)
    watch = new_watch(clock, 6 * n + 2)
    start = np.full(n, -1, np.int64)
    arrived = started = 0
    plan: list[int] = []
    planned_at = -1  # how many had started when the present plan was begun
    while started < n or not running.is_empty:
        if running.is_empty and started == arrived:
            wait_idle(watch, arrival[by_arrival[arrived]])
        while arrived < submitted and arrival[by_arrival[arrived]] <= watch.now["seconds"]:
            arrived += 1
            plan = []
        now, before, prefilled = int(watch.now["round"]), started, 0
        until = NEVER
        while started < arrived:
            if not plan:
                waiting = by_arrival[:arrived]
                waiting = np.sort(waiting[start[waiting] < 0])
                plan = batch(waiting)[::-1].tolist()
                planned_at = started
            at = running.start(plan[-1], now)
            if at == now:
                prefilled += running.prompt[plan[-1]]
                start[plan.pop()] = now
                started += 1
            elif started > planned_at:
                plan = []
            else:
                until = at
                break
        progress(started / n)
        comes = arrival[by_arrival[arrived]] if arrived < submitted else np.inf
        in_batch = running.batch
        fresh = (0, 0) if workload.with_cache else (started - before, prefilled)
        if submitted < n:
            until = min(until, int(running.profile.x[running.first]))
        running.first = run_batch(
            running.profile, watch, running.first, memory, *fresh, until, comes
        )
        for _ in range(min(in_batch - running.batch, n - submitted)):
            arrival[by_arrival[submitted]] = watch.now["seconds"]
            submitted += 1
    workload = replace(workload, arrival=arrival)
    finish = start + workload.output
    return Run(workload, memory, start, finish, timetable=timetable_of(watch))
