"""Look-ahead admission along a plan that is made anew as requests come and go.

At a decision the plan's next requests start while they fit. The plan is dropped when
requests have arrived or given up since it was made, and when its next request does not fit
although others have started since; then a new one is made from all that wait. A plan is made
batch by batch, as far as it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.arrival_queue import (
    WAITS,
    arrival_order,
    as_it_came,
    has_changed,
    mark_admitted,
    new_arrival_queue,
    next_arrival,
    next_to_give_up,
    receive_arrivals,
    submit_next,
    who_left,
)
from engine.simulate.look_ahead import run_batch
from engine.simulate.profile import earliest_fit, insert, new_profile
from engine.simulate.schedule import Schedule
from engine.simulate.timetable import NEVER, new_round_clock, timetable_of
from engine.workload import Workload

Batch = Callable[[np.ndarray], np.ndarray]


class _Running:
    """The profile of what runs (engine/simulate/profile.py)."""

    def __init__(self, workload: Workload, memory: int) -> None:
        self.profile = new_profile(min(len(workload), int(workload.output.max())) + 1)
        self.first = self.profile.x.size
        self.memory = memory
        self.prompt, self.output = workload.prompt.tolist(), workload.output.tolist()

    def start(self, i: int, decision: int) -> int:
        """Start request i if it fits at `now`; the earliest round at which it does."""
        profile = (*self.profile, self.first, self.memory)
        lengths = (self.prompt[i], self.output[i])
        at, after = earliest_fit(*profile, *lengths, decision)
        if at == decision:
            self.first = insert(*profile, *lengths, decision, after)
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
) -> Schedule:
    """Run the requests under the rule above.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    batch : from the (m,) waiting request indices, ascending, the next ones to start, in order
    """
    n = len(workload)
    by_arrival = arrival_order(workload)
    number = np.empty_like(by_arrival)
    number[by_arrival] = np.arange(n)
    arrival_queue = new_arrival_queue(workload, by_arrival)
    counts = arrival_queue.counts
    in_loop = counts["submitted"] < n
    running = _Running(workload, memory)
    round_clock = new_round_clock(clock, 8 * n + 2)
    start = np.full(n, -1, np.int64)
    plan: list[int] = []
    planned_at = -1  # how many had started when the present plan was begun
    started = 0
    while counts["arrived"] < n or counts["waiting"] > 0 or not running.is_empty:
        receive_arrivals(arrival_queue, round_clock, running.is_empty)
        if has_changed(arrival_queue):
            plan = []
        decision, before, prefilled = int(round_clock.state["round"]), started, 0
        until = NEVER
        while counts["waiting"] > 0:
            if not plan:
                waiting = np.flatnonzero(arrival_queue.status[: counts["arrived"]] == WAITS)
                plan = batch(np.sort(by_arrival[waiting]))[::-1].tolist()
                planned_at = started
            at = running.start(plan[-1], decision)
            if at == decision:
                prefilled += running.prompt[plan[-1]]
                mark_admitted(arrival_queue, number[plan[-1]])
                start[plan.pop()] = decision
                started += 1
            elif started > planned_at:
                plan = []
            else:
                until = at
                break
        progress(started / n)
        in_batch = running.batch
        if not in_batch:
            continue  # everyone who was left has given up
        fresh = (0, 0) if workload.with_cache else (started - before, prefilled)
        if in_loop:
            until = min(until, int(running.profile.x[running.first]))
        moment = min(next_arrival(arrival_queue), next_to_give_up(arrival_queue))
        running.first = run_batch(
            running.profile, round_clock, running.first, memory, *fresh, until, moment
        )
        for _ in range(in_batch - running.batch if in_loop else 0):
            submit_next(arrival_queue, round_clock.state["seconds"])
    workload = replace(workload, arrival=as_it_came(workload, arrival_queue, by_arrival))
    finish = start + workload.output
    left = who_left(arrival_queue, by_arrival)
    return Schedule(workload, memory, start, finish, timetable=timetable_of(round_clock), left=left)
