"""Admission on present use, with preemption when memory runs out (vLLM's rule).

Before each round, with `need` the sum of s + gen + 1 over running requests:

1. while need > M, a running request is preempted, the newest unless told otherwise: its
   KV cache is dropped or swapped out, its generated tokens are kept, and it goes to the
   front of the queue, where several victims stand in order of admission;
2. if none was preempted, requests are admitted from the head of the queue while need,
   those just admitted included, stays within the admission limit, fewer than
   max_num_seqs run, and the round has no more than max_tokens tokens. On an empty server
   the limit is M itself, or a request between the limit and M would wait for ever; a
   prompt above max_tokens is admitted when no other prompt is prefilled in the round.

With blocks of b tokens every term is rounded up to whole blocks, and M down.

Between decisions at which something can change, need grows by one token a running request
and round, so the kernel jumps: to the next completion, to the round in which need could
pass M, or to the next arrival when nothing waits. A blocked head stays blocked until one
of these, as need only grows; one that only the round's tokens block gets its turn in the
next round.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

from engine.compiled import kernel, part
from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.arrival_queue import first_waiting
from engine.simulate.schedule import Schedule
from engine.simulate.serve import serve
from engine.simulate.server import (
    admit,
    advance,
    evict,
    need,
    next_decision,
    rounds_to_completion,
    rounds_to_overflow,
    swap_in,
    swap_out,
    tokens,
)
from engine.simulate.timetable import NEVER
from engine.workload import Workload

NEWEST, LARGEST, LEAST_PROGRESS, SMALLEST = range(4)
VICTIMS = ("newest", "largest", "least progress")


class Admission(NamedTuple):
    """How many may run and who has to go.

    Attributes
    ----------
    limit : tokens an admission may fill, at most M
    max_num_seqs : how many requests may run at once
    max_tokens : how many tokens a round may prefill and decode
    block : tokens in a block of KV cache
    victim : NEWEST, LARGEST (most tokens held), LEAST_PROGRESS (fewest generated) or
        SMALLEST (fewest held)
    swap : whether KV cache is moved to host memory and back instead of dropped
    transfer : seconds to move one token, added to the round on either side
    """

    limit: int
    max_num_seqs: int
    max_tokens: int
    block: int
    victim: int
    swap: bool
    transfer: float


NEWEST_DROPPED = Admission(
    NEVER, NEVER, NEVER, block=1, victim=NEWEST, swap=False, transfer=0.0
)  # the recovery of policies that admit by rules of their own


def admission_limit(memory: int, free: float) -> int:
    """The tokens that admission may fill where it leaves a share of M free, M (1 - free)."""
    # The last factor keeps a product such as 100 * (1 - 0.9) from being floored to 9.
    return math.floor(memory * (1 - free) * (1 + 1e-12))


@part
def in_blocks(count, block):
    return (count + block - 1) // block * block


@part
def need_in_blocks(server, block):
    """Memory at the end of the next round, in whole blocks."""
    if block == 1:
        return need(server)
    total = 0
    for place in range(server.state.running):
        i = server.batch[place]
        total += in_blocks(server.of[i].prompt + tokens(server, i) + 1, block)
    return total


@part
def _victim(server, rule):
    """The place in the batch of the request that has to go; among equals the newest."""
    newest = server.state.running - 1
    if rule.victim == NEWEST:
        return newest
    chosen, worst = newest, -(1 << 62)
    for back in range(newest + 1):
        place = newest - back
        i = server.batch[place]
        generated = tokens(server, i)
        holding = server.of[i].prompt + generated
        if rule.victim == LEAST_PROGRESS:
            badness = -generated
        else:
            badness = holding if rule.victim == LARGEST else -holding
        if badness > worst:
            chosen, worst = place, badness
    return chosen


@part
def preempt(server, rule, place):
    """The request at `place` goes to the front of the queue, without its KV cache."""
    state = server.state
    i = swap_out(server, place, rule.transfer) if rule.swap else evict(server, place, True)
    server.queue[state.queued] = i
    state.queued += 1


@part
def make_room(server, rule, memory):
    """Preempt until the next round fits; whether anyone was preempted.

    The queue's head is its last entry, so that victims are sorted by descending admission.
    """
    queue, state, of = server.queue, server.state, server.of
    before = state.queued
    while need_in_blocks(server, rule.block) > memory:
        preempt(server, rule, _victim(server, rule))
        at = state.queued - 1
        while at > before and of[queue[at - 1]].residency < of[queue[at]].residency:
            queue[at - 1], queue[at] = queue[at], queue[at - 1]
            at -= 1
    return state.queued > before


@part
def head_of_queue(server):
    """Preempted requests first, then in order of arrival; -1 if nobody waits."""
    queued = server.state.queued
    return server.queue[queued - 1] if queued > 0 else first_waiting(server.arrival_queue)


@part
def _admit(server, rule, memory):
    """Admit from the head of the queue.

    Returns after how many rounds to look again although nothing completed; 0 if only an
    arrival can help, -1 if not even that.
    """
    state = server.state
    used = need_in_blocks(server, rule.block)
    while state.running < rule.max_num_seqs:
        i = head_of_queue(server)
        if i < 0:
            return 0
        back = state.queued > 0
        holding = server.of[i].prompt + server.of[i].gen
        more = in_blocks(holding + 1, rule.block)
        if used + more > (rule.limit if state.running > 0 else memory):
            return -1
        prefill = not (back and rule.swap)
        in_round = state.prefilled + state.running - state.fresh
        in_round += holding if prefill else 1
        if in_round > rule.max_tokens and (state.fresh > 0 or holding <= rule.max_tokens):
            return 1
        state.queued -= back
        if prefill:
            admit(server, i, True)
        else:
            swap_in(server, i, rule.transfer)
        used += more
    return -1


@kernel
def _preempting(server, rule):
    state = server.state
    memory = server.memory // rule.block * rule.block
    slack = rule.block - 1  # blocks round each request up by at most this
    while next_decision(server):
        look_again = 1
        if not make_room(server, rule, memory):
            look_again = _admit(server, rule, memory)
        rounds = rounds_to_completion(server)
        rounds = min(rounds, max(1, rounds_to_overflow(server, memory - slack * state.running)))
        if look_again > 0:
            rounds = 1
        advance(server, rounds, look_again == 0)


def preempting(
    workload: Workload, memory: int, rule: Admission, clock: Clock, progress: Progress
) -> Schedule:
    """Run the requests in order of arrival under the rule above.

    Parameters
    ----------
    workload : requests whose blocks each fit in `memory`
    """
    return serve(workload, memory, clock, partial(_preempting, rule=rule), progress)
