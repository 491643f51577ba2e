"""Static batching: a batch is formed on an empty server and runs until its last member ends.

With k members of whom the longest planned output is o, sum(s) + k * o <= M: every member is
given room for the longest output and keeps its memory until the batch ends, so memory never
runs out where plans are right. Members are consecutive in order of arrival, but for those who
left unserved. The kernel jumps from one member's completion to the next.

Where outputs were predicted too short, and memory runs out, the newest that still runs is
preempted (engine/simulate/preempting.py) and goes before all others into the next batch. That
ends: a batch's first member generates a token in every round of it, and is in every batch
until it completes.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.decisions.account import Account
from engine.decisions.refusal import BatchUnderWay, OverBatch
from engine.policy import policy
from engine.simulate.arrival_queue import arrival_order, first_waiting
from engine.simulate.look_ahead_plan import planned_left
from engine.simulate.preempting import NEWEST_DROPPED, preempt
from engine.simulate.serve import serve
from engine.simulate.server import (
    admit,
    advance,
    all_over,
    close_residency,
    complete,
    has_room,
    meet_arrivals,
    need,
    open_residency,
    rounds_to_completion,
    rounds_to_overflow,
)
from engine.simulate.timetable import NEVER

BATCH = np.dtype(
    [
        ("members", "i8"),  # how many there are
        ("kept", "i8"),  # tokens that those of them keep who have finished
    ]
)


class Members(NamedTuple):
    """The present batch.

    Attributes
    ----------
    who : (n,) int64, its members in order of admission
    state : record of dtype BATCH
    """

    who: np.ndarray
    state: np.void


@part
def _form_batch(server, members, predicted):
    """Admit those preempted, the oldest first, then in order of arrival, while all fit."""
    state = server.state
    prompts, longest = 0, 0
    while True:
        back = state.queued > 0
        i = server.queue[state.queued - 1] if back else first_waiting(server.arrival_queue)
        if i < 0:
            return
        r = server.of[i]
        prompts += r.prompt
        left = planned_left(predicted[i], 0, server.memory - r.prompt, r.gen)
        longest = max(longest, r.gen + left)
        if state.running > 0 and prompts + (state.running + 1) * longest > server.memory:
            return
        admit(server, i, True)
        members.who[members.state.members] = i
        members.state.members += 1
        state.queued -= back


@part
def _hold_finished(server, members):
    """Members that the last round completed keep their memory."""
    for place in range(members.state.members):
        r = server.of[members.who[place]]
        if r.finish == server.round_clock.state.round:
            open_residency(server, members.who[place], r.prompt + r.output, 0)
            members.state.kept += r.prompt + r.output


@part
def _free_finished(server, members):
    """The batch has ended: those who finished and kept their memory free it."""
    for place in range(members.state.members):
        r = server.of[members.who[place]]
        if r.finish != NEVER and server.log[r.residency].end == NEVER:
            close_residency(server, members.who[place])
    members.state.members = 0
    members.state.kept = 0


@kernel
def _static(server, members, predicted):
    state = server.state
    while has_room(server):
        complete(server)
        if state.running > 0:
            _hold_finished(server, members)
        while state.running > 0 and need(server) + members.state.kept > server.memory:
            preempt(server, NEWEST_DROPPED, state.running - 1)
        if state.running == 0:
            _free_finished(server, members)
        meet_arrivals(server)
        if all_over(server):
            return
        if state.running == 0:
            _form_batch(server, members, predicted)
        fits = rounds_to_overflow(server, server.memory - members.state.kept)
        advance(server, min(rounds_to_completion(server), fits), False)


def static(workload, memory, predicted, clock, progress):
    """Run under the rule above; `predicted` (n,) int64 are the outputs that are reckoned with."""
    predicted = predicted[arrival_order(workload)]
    members = Members(np.empty(len(workload), np.int64), np.zeros(1, BATCH)[0])
    rule = partial(_static, members=members, predicted=predicted)
    return serve(workload, memory, clock, rule, progress)


def account(decision):
    """A batch of those preempted and then in order of arrival, where none is under way."""
    workload, memory = decision.workload, decision.memory
    expected = workload.believing(workload.expected, memory).output
    planned = np.minimum(np.maximum(expected, decision.generated + 1), memory - workload.prompt)
    still = int((decision.schedule.finish[decision.stays] > decision.at).sum())

    def refuse(i, batch):
        members = np.append(batch, i)
        longest = int(planned[members].max())
        missing = int(workload.prompt[members].sum()) + len(members) * longest - memory
        return OverBatch(len(members), longest, missing) if missing > 0 and len(batch) else None

    queue = np.concatenate(decision.returning_first(decision.turn))
    return Account(queue, refuse, closed=BatchUnderWay(still) if still else None)


@policy(
    key="static",
    title="Static batching",
    rule="Forms a batch in order of arrival when the server is empty, with room for its longest "
    "output for each member, and starts the next when all of it has ended.",
    source="FasterTransformer's batching, as described in Orca (OSDI 2022)",
    group="deployed",
    cost=lambda n: 3e-7 * n,
    account=account,
)
def simulate(workload, memory, clock, progress):
    expected = workload.believing(workload.expected, memory)
    return static(workload, memory, expected.output, clock, progress)
