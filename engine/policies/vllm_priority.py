"""vLLM with priorities: the most urgent first, the least urgent of the batch has to go.

All requests age at the same rate, `ageing` priority levels a clock unit, so of two requests
the same one is ever ahead: the one with the smaller priority + ageing * arrival. Ranks are
therefore fixed.

Need only grows between decisions, so a blocked head stays blocked until somebody completes
or arrives: the kernel jumps to the next of these, or to the round in which memory runs out.
"""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from engine.compiled import kernel, part
from engine.decisions.plans import recovering
from engine.decisions.present_use import by_rank
from engine.decisions.refusal import AllSequences
from engine.policy import policy
from engine.policy_parameters import MAX_NUM_SEQS, NO_WATERMARK, Param
from engine.simulate.arrival_queue import arrival_order, next_newcomer
from engine.simulate.best_ranked import preempt_into, worst_ranked
from engine.simulate.preempting import admission_limit
from engine.simulate.priority_queue import dequeue, enqueue_arrivals, new_priority_queue
from engine.simulate.serve import serve
from engine.simulate.server import (
    admit,
    advance,
    need,
    next_decision,
    rounds_to_completion,
    rounds_to_overflow,
)

AGEING = Param(
    "ageing",
    0.0,
    0.0,
    1e6,
    "Priority levels by which a waiting request rises in a unit of time (0: none).",
)


class PriorityAdmission(NamedTuple):
    """The rule's numbers.

    Attributes
    ----------
    limit : tokens an admission may fill, at most M
    max_num_seqs : how many requests may run at once
    ageing : priority levels a clock unit
    """

    limit: int
    max_num_seqs: int
    ageing: float


@part
def _admit(server, priority_queue, rule):
    state, of = server.state, server.of
    while state.queued > 0 and state.running < rule.max_num_seqs:
        i = server.queue[0]
        more = of[i].prompt + of[i].gen + 1
        if need(server) + more > (rule.limit if state.running > 0 else server.memory):
            return
        admit(server, dequeue(server, priority_queue), True)


@kernel
def _by_priority(server, priority_queue, rule):
    state, arrival_queue = server.state, server.arrival_queue
    while next_decision(server):
        i = next_newcomer(arrival_queue, 0)
        while i >= 0:
            priority_queue.key[i] += rule.ageing * arrival_queue.arrival[i]
            i = next_newcomer(arrival_queue, i + 1)
        enqueue_arrivals(server, priority_queue)
        if need(server) > server.memory:
            while need(server) > server.memory:
                worst = worst_ranked(server, priority_queue)
                preempt_into(server, priority_queue, worst, False, 0.0)
            advance(server, 1, False)
            continue
        _admit(server, priority_queue, rule)
        rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
        advance(server, rounds, state.running < rule.max_num_seqs)


def account(decision):
    """The most urgent first, on present use."""
    workload, params = decision.workload, decision.params
    limit = admission_limit(decision.memory, params["watermark"])
    key = workload.priority + params["ageing"] * workload.arrival
    by_key = by_rank(decision, key, limit, recovering(decision))

    def refuse(i, batch):
        most = params["max_num_seqs"]
        return AllSequences(most) if len(batch) >= most else by_key.refuse(i, batch)

    return replace(by_key, refuse=refuse)


@policy(
    key="vllm-priority",
    title="vLLM with priorities",
    rule="Like vLLM, but the smallest priority number is admitted first and the largest is "
    "preempted first; those who wait gain priority with age.",
    source="vLLM v1 scheduler, policy `priority`; ageing is ours",
    group="deployed",
    uses_lengths=False,
    may_give_up_kv=True,
    params=(AGEING, NO_WATERMARK, MAX_NUM_SEQS),
    account=account,
    cost=lambda n: 1e-6 * n,
)
def simulate(workload, memory, clock, progress, ageing, watermark, max_num_seqs):
    priority_queue = new_priority_queue(workload.priority[arrival_order(workload)])
    rule = PriorityAdmission(admission_limit(memory, watermark), max_num_seqs, ageing)
    return serve(
        workload,
        memory,
        clock,
        partial(_by_priority, priority_queue=priority_queue, rule=rule),
        progress,
    )
