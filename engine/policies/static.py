"""Static batching: a batch is formed on an empty server and runs until its last member ends.

With k members of whom the longest output is o, sum(s) + k * o <= M: every member is given
room for the longest output and keeps its memory until the batch ends, so memory never runs
out. Members are consecutive in order of arrival, but for those who left unserved. The kernel
jumps from one member's completion to the next.
"""

from functools import partial

import numpy as np

from engine.compiled import kernel
from engine.policy import policy
from engine.simulate.entrance import first_waiting
from engine.simulate.serve import serve
from engine.simulate.server import (
    advance,
    all_over,
    close_stay,
    complete,
    enter,
    has_room,
    meet,
    open_stay,
    rounds_to_completion,
)


@kernel
def _form_batch(server):
    prompts, longest = 0, 0
    i = first_waiting(server.entrance)
    while i >= 0:
        r = server.of[i]
        prompts += r.prompt
        longest = max(longest, r.output)
        if prompts + (server.now.running + 1) * longest > server.memory:
            return
        enter(server, i, True)
        i = first_waiting(server.entrance)


@kernel
def _hold_finished(server, members):
    """Members that the last round completed keep their memory."""
    for i in range(members[0], members[1]):
        r = server.of[i]
        if r.finish == server.watch.now.round:
            open_stay(server, i, r.prompt + r.output, 0)


@kernel
def _free_finished(server, members):
    """The last round completed the last members: those that finished before free their memory."""
    for i in range(members[0], members[1]):
        if server.of[i].finish < server.watch.now.round:
            close_stay(server, i)


@kernel
def _static(server, members):
    while has_room(server):
        complete(server)
        if server.now.running > 0:
            _hold_finished(server, members)
        else:
            _free_finished(server, members)
            meet(server)
            if all_over(server):
                return
            members[0] = first_waiting(server.entrance)
            _form_batch(server)
            members[1] = server.entrance.now.eldest
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
    members = np.zeros(2, np.int64)  # of the present batch: the first, and who comes after the last
    return serve(workload, memory, clock, partial(_static, members=members), progress)
