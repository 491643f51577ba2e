"""One GPU that serves requests in batches: the state and the moves of every online policy.

A policy's kernel is a loop over decisions. Each begins with who has finished, come or given
up (`next_decision`); then it makes room and admits by its own rule (`evict`, `admit`), and
passes time until something can change (`advance`):

    while next_decision(server):
        ...
        advance(server, rounds, arrivals_matter)

Requests come in by engine/simulate/arrival_queue.py, which also says who waits for the first
admission.

Tokens are not counted round by round. A request that decodes since round `since` with
`gen` tokens before has gen + round - since of them, and `done` tells the round that
completes it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import part
from engine.simulate.arrival_queue import (
    ArrivalQueue,
    mark_admitted,
    next_arrival,
    next_to_give_up,
    receive_arrivals,
    submit_next,
)
from engine.simulate.timetable import (
    NEVER,
    RoundClock,
    pass_rounds,
    rounds_before,
)

SERVER_STATE = np.dtype(
    [
        ("running", "i8"),  # requests in the batch
        ("queued", "i8"),  # requests in `queue`
        ("passed", "i8"),  # of a list of the policy's own, how many need no look any more
        ("finished", "i8"),  # requests that are complete
        ("residencies", "i8"),  # how many are written in the log
        ("held", "i8"),  # tokens that the batch holds
        ("fresh", "i8"),  # of the batch, requests to be prefilled in the next round
        ("prefilled", "i8"),  # and their tokens
        ("next_done", "i8"),  # a round before which nothing completes
        ("cut", "i8"),  # prompts that were prefilled in chunks
    ]
)
REQUEST = np.dtype(
    [
        ("prompt", "i8"),  # tokens
        ("output", "i8"),  # tokens
        ("gen", "i8"),  # tokens generated up to round `since`
        ("since", "i8"),  # the round since when it has decoded
        ("done", "i8"),  # the round that will complete it; NEVER while it does not decode
        ("left", "i8"),  # prompt tokens left to prefill, where that is done in chunks
        ("start", "i8"),  # the round of its first admission; -1 before
        ("first", "i8"),  # the round of its first token; NEVER before
        ("finish", "i8"),  # the round that completed it; NEVER before
        ("lost", "i8"),  # how often its KV cache was lost
        ("recomputed", "i8"),  # tokens that were prefilled or generated again
        ("residency", "i8"),  # where in the log its latest one is
        ("cached", "i8"),  # whether the KV cache of its prompt comes with it
    ]
)
RESIDENCY = np.dtype(
    [
        ("request", "i8"),  # whose
        ("begin", "i8"),  # rounds that had ended when it began
        ("end", "i8"),  # and when it ended; NEVER before
        ("held", "i8"),  # tokens in memory at the begin, those prefilled then included
        ("grows", "i8"),  # tokens a round adds
    ]
)


class Server(NamedTuple):
    """Requests in order of (arrival, row), the batch, the clock and the log.

    Attributes
    ----------
    memory : M, tokens
    arrival_queue : who comes when
    of : (n,) of dtype REQUEST, what is known of each request
    batch : (n,) int64, who is in memory, in order of admission; the newest is last
    queue : (n,) int64, who waits, in an order that is the policy's business
    state : record of dtype SERVER_STATE
    round_clock : rounds and seconds
    log : (m,) of dtype RESIDENCY, all of them (engine/simulate/schedule.py)
    """

    memory: int
    arrival_queue: ArrivalQueue
    of: np.ndarray
    batch: np.ndarray
    queue: np.ndarray
    state: np.void
    round_clock: RoundClock
    log: np.ndarray


@part
def has_room(server):
    """Whether the log can take a decision that admits everyone, each for two residencies."""
    n = server.of.size
    round_clock = server.round_clock
    spans = round_clock.whole or round_clock.state.spans + 4 <= round_clock.spans.size
    return server.state.residencies + 2 * n <= server.log.size and spans


@part
def tokens(server, i):
    """How many tokens request i has generated."""
    r = server.of[i]
    return r.gen if r.done == NEVER else r.gen + server.round_clock.state.round - r.since


@part
def need(server):
    """Memory at the end of the next round if all of the batch go on: sum of s + gen + 1."""
    return server.state.held + server.state.running


@part
def open_residency(server, i, holding, grows):
    state = server.state
    residency = server.log[state.residencies]
    residency.request = i
    residency.begin = server.round_clock.state.round
    residency.end = NEVER
    residency.held = holding
    residency.grows = grows
    server.of[i].residency = state.residencies
    state.residencies += 1


@part
def close_residency(server, i):
    server.log[server.of[i].residency].end = server.round_clock.state.round


@part
def decode(server, i):
    """Request i yields a token in each round from the next one on."""
    r, state, at = server.of[i], server.state, server.round_clock.state.round
    r.since = at
    r.done = at + r.output - r.gen
    state.next_done = min(state.next_done, r.done)
    if r.first == NEVER:
        r.first = at + 1


@part
def add_to_batch(server, i):
    """Request i holds its prompt and generated tokens, at the end of the batch."""
    r, state = server.of[i], server.state
    if r.start < 0:
        r.start = server.round_clock.state.round
        mark_admitted(server.arrival_queue, i)
    server.batch[state.running] = i
    state.running += 1
    holding = r.prompt + r.gen
    state.held += holding
    return holding


@part
def admit(server, i, prefill):
    """Admit request i; its first token of this residency comes in the next round.

    `prefill`: whether its prompt and generated tokens are prefilled in that round; a
    request whose KV cache was swapped in decodes at once.
    """
    state, r = server.state, server.of[i]
    holding = add_to_batch(server, i)
    open_residency(server, i, holding, 1)
    decode(server, i)
    if prefill and not r.cached:
        state.fresh += 1
        state.prefilled += holding
    r.cached = 0


@part
def release(server, i):
    """Request i, no longer in the batch, frees its memory; its tokens are settled in `gen`."""
    r, state = server.of[i], server.state
    r.gen = tokens(server, i)
    r.done = NEVER
    state.held -= r.prompt + r.gen
    close_residency(server, i)


@part
def remove_from_batch(server, place):
    """Take the request at `place` out of the batch."""
    state, batch = server.state, server.batch
    i = batch[place]
    for later in range(place + 1, state.running):
        batch[later - 1] = batch[later]
    state.running -= 1
    release(server, i)
    return i


@part
def lose_cache(server, i, keep_tokens):
    """The KV cache of request i is gone; without `keep_tokens` it starts all over."""
    r = server.of[i]
    r.lost += 1
    if keep_tokens:
        r.recomputed += r.prompt + r.gen - r.left
    else:
        r.recomputed += r.gen
        r.gen = 0
    r.left = 0


@part
def evict(server, place, keep_tokens):
    """The request at `place` leaves and loses its KV cache."""
    i = remove_from_batch(server, place)
    lose_cache(server, i, keep_tokens)
    return i


@part
def swap_out(server, place, transfer):
    """The request at `place` leaves; its KV cache moves out, `transfer` seconds a token."""
    i = remove_from_batch(server, place)
    r = server.of[i]
    r.lost += 1
    server.round_clock.state.extra += transfer * (r.prompt + r.gen)
    return i


@part
def swap_in(server, i, transfer):
    """Admit request i, whose KV cache was swapped out; it decodes in the next round."""
    server.round_clock.state.extra += transfer * (server.of[i].prompt + server.of[i].gen)
    admit(server, i, False)


@part
def complete(server):
    """Let those go that the last round completed."""
    state, of, batch, at = server.state, server.of, server.batch, server.round_clock.state.round
    if at < state.next_done:
        return
    kept, running, next_done = 0, state.running, NEVER
    for place in range(running):
        i = batch[place]
        done = of[i].done
        if done == at:
            r = of[i]
            r.finish = at
            close_residency(server, i)
            state.held -= r.prompt + r.output
            state.finished += 1
            submit_next(server.arrival_queue, server.round_clock.state.seconds)
        else:
            batch[kept] = i
            kept += 1
            next_done = min(next_done, done)
    state.running = kept
    state.next_done = next_done


@part
def meet_arrivals(server):
    """See who has come and given up; where nobody is in the system, go to the next arrival."""
    counts = server.arrival_queue.counts
    gone = server.state.finished + counts.unserved
    is_idle = counts.arrived == gone + counts.waiting
    receive_arrivals(server.arrival_queue, server.round_clock, is_idle)


@part
def all_over(server):
    """Whether everyone has finished or left unserved."""
    return server.state.finished + server.arrival_queue.counts.unserved == server.of.size


@part
def next_decision(server):
    """Let those go that the last round completed, and see who has come and given up.

    Returns whether anybody is there to decide about. Also false where the log has no room
    for a decision: the kernel is then called again.
    """
    if not has_room(server):
        return False
    complete(server)
    meet_arrivals(server)
    return not all_over(server)


@part
def rounds_to_completion(server):
    """Rounds until the first of the batch completes, or fewer; NEVER for an empty batch.

    Fewer where that request has left the batch since: a decision too many does no harm.
    """
    if server.state.next_done == NEVER:
        return NEVER
    return server.state.next_done - server.round_clock.state.round


@part
def rounds_to_overflow(server, memory):
    """Rounds until the batch would need more than `memory`, if it needs no more now."""
    return (memory - need(server)) // server.state.running + 1


@part
def advance_until(server, rounds, moment):
    """Pass up to `rounds` rounds with this batch; stop where one begins at or after `moment`.

    Also where one more has given up.
    """
    state, round_clock = server.state, server.round_clock
    moment = min(moment, next_to_give_up(server.arrival_queue))
    if state.fresh > 0 or round_clock.state.extra > 0.0:
        context = state.held - state.prefilled
        pass_rounds(round_clock, 1, state.prefilled, state.running - state.fresh, context)
        state.fresh = 0
        state.prefilled = 0
        state.held += state.running
        rounds -= 1
    if rounds > 0 and moment < np.inf:
        rounds = min(rounds, rounds_before(round_clock, moment, state.running, state.held))
    if rounds > 0:
        pass_rounds(round_clock, rounds, 0, state.running, state.held)
        state.held += rounds * state.running


@part
def advance(server, rounds, arrivals_matter):
    """Pass up to `rounds` rounds with this batch; stop where an arrival can be seen."""
    advance_until(server, rounds, next_arrival(server.arrival_queue) if arrivals_matter else np.inf)
