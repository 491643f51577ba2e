"""Shortest remaining output first, with preemption.

What the batch has left falls by one a round, what others have left stays, so the batch only
moves ahead of those who wait, and it changes only when somebody arrives or completes or
memory runs out: the kernel jumps to the next of these. (That holds for planned outputs that
are too small as well: a request past its plan has one token left until it ends, and stays
ahead of those it was ahead of.)
"""

from functools import partial

import numpy as np

from engine.compiled import kernel, part
from engine.decisions.present_use import by_rank
from engine.policy import policy
from engine.simulate.arrival_queue import arrival_order
from engine.simulate.best_ranked import keep_best
from engine.simulate.priority_queue import enqueue_arrivals, new_priority_queue
from engine.simulate.serve import serve
from engine.simulate.server import (
    advance,
    next_decision,
    rounds_to_completion,
    rounds_to_overflow,
    tokens,
)


@part
def _rank_batch(server, priority_queue, planned):
    """Bring the keys of the batch, the tokens left, up to date."""
    for place in range(server.state.running):
        i = server.batch[place]
        priority_queue.key[i] = max(planned[i] - tokens(server, i), 1)


@kernel
def _srpt(server, priority_queue, planned):
    while next_decision(server):
        _rank_batch(server, priority_queue, planned)
        enqueue_arrivals(server, priority_queue)
        keep_best(server, priority_queue, False, 0.0)
        rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
        advance(server, rounds, True)


def srpt(workload, memory, planned, clock, progress):
    """Run under the rule above; `planned` (n,) int64 are the outputs that are reckoned with."""
    planned = planned[arrival_order(workload)]
    rule = partial(_srpt, priority_queue=new_priority_queue(planned), planned=planned)
    return serve(workload, memory, clock, rule, progress)


def account(decision):
    """By the tokens left, on present use: those in memory rank before who is refused."""
    expected = decision.workload.believing(decision.workload.expected, decision.memory).output
    left = np.maximum(expected - decision.generated, 1)
    return by_rank(decision, left, decision.memory)


@policy(
    key="srpt",
    title="SRPT",
    rule="Before each round runs those with the fewest tokens left, as many as memory takes; "
    "the others drop their KV cache.",
    source="the SRPT oracle of FastServe's code, with memory in place of its caps",
    group="deployed",
    may_give_up_kv=True,
    account=account,
    cost=lambda n: 1e-6 * n,
)
def simulate(workload, memory, clock, progress):
    expected = workload.believing(workload.expected, memory)
    return srpt(workload, memory, expected.output, clock, progress)
