"""Static batching: a batch is formed on an empty server and runs until its last member ends.

With k members of whom the longest output is o, sum(s) + k * o <= M: every member is given
room for the longest output and keeps its memory until the batch ends, so memory never runs
out. Members are consecutive in order of arrival. The kernel jumps from one member's
completion to the next.
"""

from functools import partial

import numpy as np

from engine.compiled import kernel
from engine.policy import policy
from engine.simulate.server import (
    advance,
    close_stay,
    complete,
    enter,
    has_room,
    open_stay,
    rounds_to_completion,
    see_arrivals,
    serve,
    wait_for_arrival,
)


@kernel
def _form_batch(server):
    now, of = server.now, server.of
    prompts, longest = 0, 0
    while now.started < now.arrived:
        r = of[now.started]
        prompts += r.prompt
        longest = max(longest, r.output)
        if prompts + (now.running + 1) * longest > server.memory:
            return
        enter(server, now.started, True)
        now.started += 1


@kernel
def _hold_finished(server, first):
    """Members that the last round completed keep their memory."""
    now, of = server.now, server.of
    for i in range(first, now.started):
        if of[i].finish == server.watch.now.round:
            open_stay(server, i, of[i].prompt + of[i].output, 0)


@kernel
def _free_finished(server, first):
    """The last round completed the last members: those that finished before free their memory."""
    for i in range(first, server.now.started):
        if server.of[i].finish < server.watch.now.round:
            close_stay(server, i)


@kernel
def _static(server, first):
    now = server.now
    while has_room(server):
        complete(server)
        if now.running > 0:
            _hold_finished(server, first[0])
        else:
            _free_finished(server, first[0])
            if now.finished == server.of.size:
                return
            see_arrivals(server)
            if now.started == now.arrived:
                wait_for_arrival(server)
            first[0] = now.started
            _form_batch(server)
        advance(server, rounds_to_completion(server), False)


@policy(
    key="static",
    title="Static batching",
    rule="Forms a batch in order of arrival when the server is empty, with room for its longest "
    "output for each member, and starts the next when all of it has ended.",
    source="FasterTransformer's batching, as described in Orca (OSDI 2022)",
    group="deployed",
    cost=lambda n: 3e-7 * n,
)
def simulate(workload, memory, clock, progress):
    first = np.zeros(1, np.int64)  # of the present batch
    return serve(workload, memory, clock, partial(_static, first=first), progress)
