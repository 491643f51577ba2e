"""Look-ahead admission in a fixed order, where the planned outputs may be wrong.

The rule of engine/simulate/look_ahead.py on the plans of engine/simulate/look_ahead_plan.py. Before
each round:

1. while the next round would pass M, the newest request is preempted: its KV cache is
   dropped, its tokens are kept, and it goes to the front of the queue, where several victims
   stand in order of admission (vLLM's recovery); nobody is admitted in such a round;
2. otherwise the queue of those preempted, and after it the others in the policy's order,
   are walked once. Who fits within the limit by the present plans is admitted; the walk
   passes over up to `skip` that do not and stops at the next.

It always ends: the oldest of the batch is preempted only when it is alone, and alone it fits.
With right plans and M as the limit nothing is ever preempted, and the runs are those of
look_ahead.py, which knows that and is many times as fast: `in_order` takes it then.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from engine.compiled import kernel, part
from engine.machine.clock import ROUNDS, Clock
from engine.progress import Progress, silent
from engine.simulate.arrival_queue import arrival_order, has_changed
from engine.simulate.look_ahead import look_ahead
from engine.simulate.look_ahead_plan import (
    admit_if_it_fits,
    new_look_ahead_plan,
    recover,
    refresh_plan,
    rounds_to_change,
)
from engine.simulate.preempting import NEWEST_DROPPED
from engine.simulate.ranks import ranks_of, update_waiting
from engine.simulate.schedule import Schedule, Walk
from engine.simulate.serve import serve
from engine.simulate.server import advance, next_decision
from engine.simulate.timetable import NEVER
from engine.simulate.waiting import next_waiting, remove_waiting
from engine.workload import Workload

COST = 4e-6  # seconds a request that this takes, roughly, however quick right plans are


@part
def _walk_returning(server, plan, skip):
    """Admit from the queue of those preempted.

    Returns
    -------
    start : the first round at which one of those passed over might fit
    left : how many more may be passed over; -1 where the walk is over
    """
    state, queue, at = server.state, server.queue, server.round_clock.state.round
    start, left = NEVER, skip
    for place in range(state.queued - 1, -1, -1):
        fits_at = admit_if_it_fits(server, plan, queue[place], False, 0.0)
        if fits_at == at:
            for later in range(place + 1, state.queued):
                queue[later - 1] = queue[later]
            state.queued -= 1
            continue
        start = min(start, fits_at)
        left -= 1
        if left < 0:
            break
    return start, left


@part
def _walk(server, plan, ranks, skip):
    """Admit who fits; the first round at which one of those passed over might."""
    start, left = _walk_returning(server, plan, skip)
    if left < 0:
        return start
    at, rank = server.round_clock.state.round, next_waiting(ranks.waiting, 0)
    while rank >= 0:
        fits_at = admit_if_it_fits(server, plan, ranks.who[rank], False, 0.0)
        if fits_at == at:
            remove_waiting(ranks.waiting, rank)
        else:
            start = min(start, fits_at)
            left -= 1
            if left < 0:
                break
        rank = next_waiting(ranks.waiting, rank + 1)
    return start


@kernel
def _in_order(server, plan, ranks, skip):
    while next_decision(server):
        if has_changed(server.arrival_queue):
            update_waiting(server, ranks)
        if recover(server, plan):
            advance(server, 1, False)
            continue
        refresh_plan(server, plan)
        start = _walk(server, plan, ranks, skip)
        advance(server, rounds_to_change(server, start), True)


def on_predicted_lengths(
    workload: Workload, memory: int, walk: Walk, limit: int, clock: Clock, progress: Progress
) -> Schedule:
    """Run the requests under the rule above; parameters as for `in_order`."""
    planned = workload.output if walk.planned is None else walk.planned
    in_turn = planned[arrival_order(workload)]
    plan = new_look_ahead_plan(in_turn, memory, limit, NEWEST_DROPPED)
    ranks = ranks_of(workload, walk.order)
    rule = partial(_in_order, plan=plan, ranks=ranks, skip=walk.skip)
    schedule = serve(workload, memory, clock, rule, progress)
    return replace(schedule, walk=replace(walk, planned=planned))


def in_order(
    workload: Workload,
    memory: int,
    walk: Walk,
    limit: int | None = None,
    clock: Clock = ROUNDS,
    progress: Progress = silent,
) -> Schedule:
    """Run the requests in order under look-ahead admission on planned outputs.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    walk : the order, with planned outputs of at most M - s
    limit : tokens that admission may plan to fill, at most M (None); M on an empty server
    """
    limit = memory if limit is None else limit
    planned = workload.output if walk.planned is None else walk.planned
    right = planned is workload.output or np.array_equal(planned, workload.output)
    if right and limit == memory:
        return look_ahead(workload, memory, walk.order, walk.skip, clock)
    return on_predicted_lengths(workload, memory, walk, limit, clock, progress)
