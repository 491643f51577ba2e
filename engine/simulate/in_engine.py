"""An order of those who wait, inside a serving engine: blocks, a budget of tokens, preemption.

Before each round (docs/model.md 1.7):

1. those of the batch, in its order, take the blocks that their tokens of the round need, while
   the round's budget lasts: a request that decodes one token, a prompt that is prefilled what is
   left of it or of the budget. Where no block is left somebody is preempted, at once: the newest,
   or the last of the order, who gives back what it was to do in this round. One that is its own
   victim ends the growth: those behind it miss the round, as do those for whom no budget is left;
2. if nobody was preempted, requests are admitted from the head of the queue while budget is left
   and fewer than max_num_seqs run: one fits if the blocks for all its tokens are free, besides
   those that the watermark keeps while something runs. Taken are the blocks of its first chunk.

The last chunk of a prompt yields its first token. With `standing` h, a request holds s + h + j
tokens at the end of the round of its j-th token (docs/model.md 1.1).

While all of the batch decode, everybody takes a block each `block` rounds, so that it is known in
which round the free ones end: the kernel jumps there, or to the next completion. A blocked head
stays blocked until then, as free blocks only get fewer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from engine.compiled import kernel, part
from engine.engines import Engine
from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.arrival_queue import has_changed
from engine.simulate.blocks import (
    COUNTS,
    PAUSED,
    Blocks,
    Steps,
    blocks_for,
    blocks_of,
    free_completed,
    pause,
    promised_to,
    remainder,
    rounds_that_fit,
    take_blocks,
)
from engine.simulate.ranks import ranks_of, update_waiting
from engine.simulate.schedule import Schedule
from engine.simulate.serve import serve
from engine.simulate.server import (
    add_to_batch,
    advance,
    close_residency,
    decode,
    evict,
    has_room,
    next_decision,
    open_residency,
    rounds_to_completion,
    tokens,
)
from engine.simulate.timetable import NEVER, pass_rounds
from engine.simulate.waiting import add_waiting, next_waiting, remove_waiting
from engine.workload import Workload

HOLDS_NOTHING = 1  # a block more in vLLM's pool, which its watermark counts


@part
def _preempt(server, steps, blocks, ranks, place):
    """The request at `place` goes, with its blocks; the tokens it was doing in this round."""
    i, counts = server.batch[place], blocks.counts
    r = server.of[i]
    if r.done != NEVER:
        pause(server, steps, blocks, i)
    r.left = max(r.left, 0)
    counts.still -= 1
    counts.free += blocks.held[i] + blocks.taken[i]
    back = blocks.doing[i]
    blocks.doing[i] = blocks.taken[i] = 0
    evict(server, place, True)
    if steps.newest:
        server.queue[server.state.queued] = i
        server.state.queued += 1
    else:
        add_waiting(ranks.waiting, ranks.rank[i])
    return back


@part
def _last_in_order(server, ranks):
    """The place in the batch of the request that ranks last."""
    worst = 0
    for place in range(1, server.state.running):
        if ranks.rank[server.batch[place]] > ranks.rank[server.batch[worst]]:
            worst = place
    return worst


@part
def _give_tokens(server, steps, blocks, ranks):
    """Give the batch its tokens of the round, preempting where blocks are missing.

    Returns
    -------
    budget : tokens left in the round
    preempted : whether anybody was
    """
    state, counts = server.state, blocks.counts
    budget, place, preempted = steps.max_tokens, 0, False
    while place < state.running and budget > 0:
        i = server.batch[place]
        r = server.of[i]
        chunk = min(r.left, budget) if r.left > 0 else 1
        holding = r.prompt + tokens(server, i) + 1 - max(0, r.left - chunk)
        more = blocks_for(holding, steps) - blocks_of(server, steps, blocks, i)
        while more > counts.free:
            preempted = True
            worst = state.running - 1 if steps.newest else _last_in_order(server, ranks)
            budget += _preempt(server, steps, blocks, ranks, worst)
            if worst == place:
                return budget, True
            place -= worst < place
        blocks.doing[i], blocks.taken[i] = chunk, more
        counts.free -= more
        budget -= chunk
        place += 1
    return budget, preempted


@part
def _hold(server, steps, blocks, i):
    """A request that does some of its prompt, or goes on, holds tokens by itself from now on."""
    r = server.of[i]
    if r.left > 0:
        open_residency(server, i, r.prompt + r.gen - r.left + 1 + steps.standing, 0)
        return
    open_residency(server, i, r.prompt + r.gen + steps.standing, 1)
    decode(server, i)
    r.left = 0
    blocks.at_rest[remainder(steps, r)] += 1
    blocks.counts.still -= 1


@part
def _do(server, steps, blocks, i):
    """What a request of the batch does in this round, now that it is certain."""
    r, counts, chunk = server.of[i], blocks.counts, blocks.doing[i]
    blocks.held[i] += blocks.taken[i]
    blocks.doing[i] = blocks.taken[i] = 0
    if r.left > 0 and chunk > 0:
        counts.prefilled += chunk
        r.left -= chunk
        counts.ended += r.left == 0
        close_residency(server, i)
        _hold(server, steps, blocks, i)
    elif chunk > 0:
        counts.decoded += 1
        counts.context += r.prompt + tokens(server, i)
        if r.left == PAUSED:
            close_residency(server, i)
            _hold(server, steps, blocks, i)
    elif r.done != NEVER:
        pause(server, steps, blocks, i)
        close_residency(server, i)
        open_residency(server, i, r.prompt + r.gen + steps.standing, 0)


@part
def _begin_round(server, steps, blocks, ranks):
    """Those of the batch go on.

    Returns
    -------
    budget : tokens left in the round
    preempted : whether anybody was
    alike : whether all decode, as they may in the rounds after
    """
    state, counts = server.state, blocks.counts
    counts.decoded = counts.context = counts.prefilled = counts.ended = 0
    more = blocks.at_rest[(server.round_clock.state.round + 1) % steps.block]
    if counts.still == 0 and more <= counts.free and state.running <= steps.max_tokens:
        counts.free -= more
        counts.decoded, counts.context = state.running, state.held
        return steps.max_tokens - state.running, False, True
    budget, preempted = _give_tokens(server, steps, blocks, ranks)
    for place in range(state.running):
        _do(server, steps, blocks, server.batch[place])
    return budget, preempted, False


@part
def _head(server, ranks):
    """Who is first of those that wait; -1 if nobody does."""
    if server.state.queued > 0:
        return server.queue[server.state.queued - 1]
    rank = next_waiting(ranks.waiting, 0)
    return ranks.who[rank] if rank >= 0 else -1


@part
def _fits(server, steps, blocks, r, chunk):
    """Whether there are blocks to admit a request with its first chunk."""
    counts = blocks.counts
    kept = steps.kept if server.state.running > 0 else 0
    if steps.reserved > 0:
        return counts.promised + promised_to(steps, r) <= steps.total - kept
    held = r.prompt + r.gen if steps.whole_input else chunk
    return blocks_for(held + 1, steps) <= counts.free - kept


@part
def _admit(server, steps, blocks, ranks, budget):
    """Admit from the head of the queue; whether a request that comes may change who is."""
    state, counts = server.state, blocks.counts
    while True:
        i = _head(server, ranks)
        if i < 0:
            return True
        if budget <= 0 or state.running >= steps.max_num_seqs:
            return False
        r = server.of[i]
        wanted = 1 if r.cached else r.prompt + r.gen
        chunk = min(wanted, budget) if steps.cut else wanted
        too_long = chunk > budget and (counts.prefilled > 0 or chunk <= steps.max_tokens)
        if too_long or not _fits(server, steps, blocks, r, chunk):
            return not steps.in_turn
        if state.queued > 0:
            state.queued -= 1
        else:
            remove_waiting(ranks.waiting, ranks.rank[i])
        budget -= chunk
        _start(server, steps, blocks, i, chunk)


@part
def _start(server, steps, blocks, i, chunk):
    """Admit a request, which does this chunk in the present round."""
    state, counts, r = server.state, blocks.counts, server.of[i]
    holding = add_to_batch(server, i)
    counts.still += 1
    if r.cached:
        r.cached = 0
        counts.decoded += 1
        counts.context += holding
    else:
        r.left = holding - chunk
        counts.prefilled += chunk
        counts.ended += r.left == 0
        state.cut += r.left > 0
    blocks.held[i] = blocks_for(holding - r.left + 1, steps)
    counts.free -= blocks.held[i]
    if steps.reserved > 0:
        counts.promised += promised_to(steps, r)
    _hold(server, steps, blocks, i)


@kernel
def _in_engine(server, steps, blocks, ranks):
    state, counts, timer = server.state, blocks.counts, server.round_clock.state
    while has_room(server):
        free_completed(server, steps, blocks)
        if not next_decision(server):
            return
        if has_changed(server.arrival_queue):
            update_waiting(server, ranks)
        at, running = timer.round, state.running
        budget, preempted, alike = _begin_round(server, steps, blocks, ranks)
        arrivals_matter = False
        if not preempted:
            arrivals_matter = _admit(server, steps, blocks, ranks, budget)
        if not alike or state.running > running:
            context = counts.context
            pass_rounds(server.round_clock, 1, counts.prefilled, counts.decoded, context)
            state.held += counts.decoded + counts.ended
            continue
        counts.free += blocks.at_rest[(at + 1) % steps.block]
        rounds = rounds_that_fit(blocks, at, rounds_to_completion(server))
        advance(server, rounds, arrivals_matter)
        take_blocks(blocks, at, timer.round - at)


def steps_of(engine: Engine, workload: Workload, memory: int, order: np.ndarray) -> Steps:
    """An engine's rules for requests in this order."""
    in_turn = bool(np.array_equal(order, workload.ascending(workload.arrival)))
    reserved = engine.max_output or int(workload.output.max())
    total = memory // engine.block_size
    return Steps(
        block=engine.block_size,
        total=total,
        kept=math.floor(engine.watermark * (total + HOLDS_NOTHING)),
        max_num_seqs=engine.max_num_seqs or NEVER,
        max_tokens=engine.max_num_batched_tokens or NEVER,
        cut=engine.chunked_prefill,
        whole_input=engine.reserve_full_input,
        reserved=0 if engine.preempts else reserved,
        standing=engine.standing,
        newest=in_turn if engine.victim == "order" else engine.victim == "newest",
        in_turn=in_turn,
    )


def in_engine(
    workload: Workload,
    memory: int,
    order: np.ndarray,
    steps: Steps,
    clock: Clock,
    progress: Progress,
) -> Schedule:
    """Run the requests in this order inside an engine.

    Parameters
    ----------
    workload : requests that each fit in the blocks of `memory`
    order : (n,) int64, workload indices, first choice first
    """
    n = len(workload)
    counts = np.zeros(1, COUNTS)[0]
    counts["free"] = steps.total
    held, doing, taken = np.zeros((3, n), np.int64)
    blocks = Blocks(held, doing, taken, np.zeros(steps.block, np.int64), counts)
    rule = partial(_in_engine, steps=steps, blocks=blocks, ranks=ranks_of(workload, order))
    schedule = serve(workload, memory, clock, rule, progress)
    return schedule if schedule.logged else _with_standing(schedule, steps.standing)


def _with_standing(schedule: Schedule, standing: int) -> Schedule:
    """The same, where each request has one residency, with the tokens it really held."""
    plain = schedule.residencies
    return replace(schedule, logged=replace(plain, held=plain.held + standing))
