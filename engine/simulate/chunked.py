"""Prompts prefilled in chunks beside the requests that decode (Sarathi-Serve, vLLM).

Each round has a budget of tokens. Every decoding request takes one; what is left goes to
prompts that are under way, in order of admission, then to new requests, admitted by the
rule of engine/simulate/preempting.py. A prompt's memory is held whole from its admission;
the round of its last chunk yields the first token and counts among the prefilled tokens,
not among the decoding requests.
"""

from __future__ import annotations

from functools import partial

from engine.compiled import kernel, part
from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.preempting import (
    Admission,
    head_of_queue,
    in_blocks,
    make_room,
    need_in_blocks,
)
from engine.simulate.schedule import Schedule
from engine.simulate.serve import serve
from engine.simulate.server import (
    add_to_batch,
    advance,
    close_residency,
    decode,
    next_decision,
    open_residency,
    rounds_to_completion,
    rounds_to_overflow,
    tokens,
)
from engine.simulate.timetable import pass_rounds
from engine.workload import Workload


@part
def _decoding(server):
    """How many of the batch decode, and the tokens they hold."""
    count, context = 0, 0
    for place in range(server.state.running):
        i = server.batch[place]
        if server.of[i].left == 0:
            count += 1
            context += server.of[i].prompt + tokens(server, i)
    return count, context


@part
def _prefill_under_way(server, budget):
    """Give prompts under way their chunks; tokens prefilled, and prompts that end with it."""
    prefilled, ended = 0, 0
    for place in range(server.state.running):
        i = server.batch[place]
        if server.of[i].left == 0 or prefilled >= budget:
            continue
        chunk = min(server.of[i].left, budget - prefilled)
        prefilled += chunk
        server.of[i].left -= chunk
        if server.of[i].left == 0:
            close_residency(server, i)
            open_residency(server, i, server.of[i].prompt + server.of[i].gen, 1)
            decode(server, i)
            ended += 1
    return prefilled, ended


@part
def _admit_in_chunks(server, rule, memory, budget):
    """Admit from the head of the queue while tokens are left in the round.

    Returns
    -------
    prefilled, ended : tokens prefilled, and prompts that end with it
    decoding, context : those admitted who came with their KV cache, and their tokens
    blocked : whether someone waits whom an arrival does not help
    """
    state = server.state
    used = need_in_blocks(server, rule.block)
    prefilled, ended, decoding, context = 0, 0, 0, 0
    while True:
        i = head_of_queue(server)
        if i < 0:
            return prefilled, ended, decoding, context, False
        r = server.of[i]
        holding = r.prompt + r.gen
        more = in_blocks(holding + 1, rule.block)
        fits = used + more <= (rule.limit if state.running > 0 else memory)
        if not fits or state.running >= rule.max_num_seqs or prefilled + decoding >= budget:
            return prefilled, ended, decoding, context, True
        state.queued -= state.queued > 0
        used += more
        add_to_batch(server, i)
        if r.cached:
            r.cached = 0
            decoding += 1
            context += holding
        else:
            chunk = min(holding, budget - prefilled - decoding)
            prefilled += chunk
            r.left = holding - chunk
            ended += r.left == 0
        open_residency(server, i, holding, 1 if r.left == 0 else 0)
        if r.left == 0:
            decode(server, i)
        else:
            state.cut += 1


@kernel
def _chunked(server, rule):
    state = server.state
    memory = server.memory // rule.block * rule.block
    while next_decision(server):
        preempted = make_room(server, rule, memory)
        decoding, context = _decoding(server)
        under_way = decoding < state.running
        prefilled, ended = _prefill_under_way(server, rule.max_tokens - decoding)
        blocked = True
        if not preempted:
            budget = rule.max_tokens - decoding - prefilled
            more, ended_at_once, joined, theirs, blocked = _admit_in_chunks(
                server, rule, memory, budget
            )
            prefilled += more
            ended += ended_at_once
            decoding += joined
            context += theirs
        if prefilled > 0 or under_way or preempted:
            pass_rounds(server.round_clock, 1, prefilled, decoding, context)
            state.held += decoding + ended
            continue
        slack = (rule.block - 1) * state.running  # blocks round each request up by at most this
        rounds = min(
            rounds_to_completion(server), max(1, rounds_to_overflow(server, memory - slack))
        )
        advance(server, rounds, not blocked)


def chunked(
    workload: Workload, memory: int, rule: Admission, clock: Clock, progress: Progress
) -> Schedule:
    """Run the requests in order of arrival, prompts in chunks, under the rule above.

    Parameters
    ----------
    workload : requests whose blocks each fit in `memory`
    rule : `max_tokens` is the budget of a round
    """
    return serve(workload, memory, clock, partial(_chunked, rule=rule), progress)
