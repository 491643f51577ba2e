"""One GPU that serves requests in batches: the state and the moves of every online policy.

A policy's kernel is a loop over decisions. Each begins with who has finished, come or given
up (`next_decision`); then it makes room and admits by its own rule (`leave`, `enter`), and
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
    let_in,
    next_to_come,
    next_to_give_up,
    see,
    send_next,
)
from engine.simulate.timetable import (
    NEVER,
    RoundClock,
    pass_rounds,
    rounds_before,
    wait_idle,
)

STATE = np.dtype(
    [
        (name, "i8")
        for name in (
            *("running", "queued", "passed", "finished", "arrived_before", "gave_up_before"),
            *("residencies", "held", "fresh", "prefilled", "next_done", "cut"),
        )
    ]
)
REQUEST = np.dtype(
    [
        *((name, "i8") for name in ("prompt", "output", "gen", "since", "done", "left")),
        *(
            (name, "i8")
            for name in ("start", "first", "finish", "lost", "recomputed", "stay", "cached")
        ),
    ]
)
STAY = np.dtype([(name, "i8") for name in ("request", "begin", "end", "held", "grows")])


class Server(NamedTuple):
    """Requests in order of (arrival, row), the batch, the clock and the log.

    Attributes
    ----------
    memory : M, tokens
    entrance : who comes when
    of : (n,) of dtype REQUEST, what is known of each request: its lengths;
        gen, the tokens generated up to round `since`, since when it has decoded, and the
        round that will complete it (`done`; NEVER while it does not decode); the prompt
        tokens `left` to prefill where that is done in chunks; the rounds of its first
        admission (-1 before), first token and completion; how often its KV cache was
        lost, and the tokens that were prefilled or generated again; its open stay; whether
        the KV cache of its prompt comes with it
    batch : (n,) int64, who is in memory, in order of admission; the newest is last
    queue : (n,) int64, who waits, in an order that is the policy's business
    now : record of dtype STATE: how many are running, are queued, of a line of the policy's
        own have been passed, have finished; how many had arrived and given up before this
        decision; how many stays are written; tokens
        held by the batch; of these, how many requests and tokens are to be prefilled in
        the next round; a round before which nothing completes; how many prompts were cut
    watch : the clock
    log : (m,) of dtype STAY, every stay (engine/simulate/run.py)
    """

    memory: int
    arrival_queue: ArrivalQueue
    of: np.ndarray
    batch: np.ndarray
    queue: np.ndarray
    now: np.void
    round_clock: RoundClock
    log: np.ndarray


@part
def has_room(server):
    """Whether the log can take a decision that admits everyone, each in two stays."""
    n = server.of.size
    round_clock = server.round_clock
    spans = round_clock.whole or round_clock.now.spans + 4 <= round_clock.spans.size
    return server.now.residencies + 2 * n <= server.log.size and spans


@part
def tokens(server, i):
    """How many tokens request i has generated."""
    r = server.of[i]
    return r.gen if r.done == NEVER else r.gen + server.round_clock.now.round - r.since


@part
def need(server):
    """Memory at the end of the next round if all of the batch go on: sum of s + gen + 1."""
    return server.now.held + server.now.running


@part
def open_residency(server, i, holding, grows):
    now = server.now
    stay = server.log[now.residencies]
    stay.request = i
    stay.begin = server.round_clock.now.round
    stay.end = NEVER
    stay.held = holding
    stay.grows = grows
    server.of[i].stay = now.residencies
    now.residencies += 1


@part
def close_residency(server, i):
    server.log[server.of[i].stay].end = server.round_clock.now.round


@part
def decode(server, i):
    """Request i yields a token in each round from the next one on."""
    r, now, at = server.of[i], server.now, server.round_clock.now.round
    r.since = at
    r.done = at + r.output - r.gen
    now.next_done = min(now.next_done, r.done)
    if r.first == NEVER:
        r.first = at + 1


@part
def join(server, i):
    """Request i holds its prompt and generated tokens, at the end of the batch."""
    r, now = server.of[i], server.now
    if r.start < 0:
        r.start = server.round_clock.now.round
        let_in(server.arrival_queue, i)
    server.batch[now.running] = i
    now.running += 1
    holding = r.prompt + r.gen
    now.held += holding
    return holding


@part
def enter(server, i, prefill):
    """Admit request i; its first token of this stay comes in the next round.

    `prefill`: whether its prompt and generated tokens are prefilled in that round; a
    request whose KV cache was swapped in decodes at once.
    """
    now, r = server.now, server.of[i]
    holding = join(server, i)
    open_residency(server, i, holding, 1)
    decode(server, i)
    if prefill and not r.cached:
        now.fresh += 1
        now.prefilled += holding
    r.cached = 0


@part
def let_go(server, i):
    """Request i, no longer in the batch, frees its memory; its tokens are settled in `gen`."""
    r, now = server.of[i], server.now
    r.gen = tokens(server, i)
    r.done = NEVER
    now.held -= r.prompt + r.gen
    close_residency(server, i)


@part
def leave(server, place):
    """Take the request at `place` out of the batch."""
    now, batch = server.now, server.batch
    i = batch[place]
    for later in range(place + 1, now.running):
        batch[later - 1] = batch[later]
    now.running -= 1
    let_go(server, i)
    return i


@part
def lose(server, i, keep_tokens):
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
def drop(server, place, keep_tokens):
    """The request at `place` leaves and loses its KV cache."""
    i = leave(server, place)
    lose(server, i, keep_tokens)
    return i


@part
def swap_out(server, place, transfer):
    """The request at `place` leaves; its KV cache moves out, `transfer` seconds a token."""
    i = leave(server, place)
    r = server.of[i]
    r.lost += 1
    server.round_clock.now.extra += transfer * (r.prompt + r.gen)
    return i


@part
def swap_in(server, i, transfer):
    """Admit request i, whose KV cache was swapped out; it decodes in the next round."""
    server.round_clock.now.extra += transfer * (server.of[i].prompt + server.of[i].gen)
    enter(server, i, False)


@part
def complete(server):
    """Let those go that the last round completed."""
    now, of, batch, at = server.now, server.of, server.batch, server.round_clock.now.round
    if at < now.next_done:
        return
    kept, running, next_done = 0, now.running, NEVER
    for place in range(running):
        i = batch[place]
        done = of[i].done
        if done == at:
            r = of[i]
            r.finish = at
            close_residency(server, i)
            now.held -= r.prompt + r.output
            now.finished += 1
            send_next(server.arrival_queue, server.round_clock.now.seconds)
        else:
            batch[kept] = i
            kept += 1
            next_done = min(next_done, done)
    now.running = kept
    now.next_done = next_done


@part
def meet(server):
    """See who has come and gone; where nobody is in the system, go to the next arrival."""
    now, come = server.now, server.arrival_queue.now
    now.arrived_before, now.gave_up_before = come.arrived, come.gave_up
    see(server.arrival_queue, server.round_clock.now.seconds)
    while come.arrived == now.finished + come.unserved and come.arrived < server.of.size:
        wait_idle(server.round_clock, next_to_come(server.arrival_queue))
        see(server.arrival_queue, server.round_clock.now.seconds)


@part
def all_over(server):
    """Whether everyone has finished or left unserved."""
    return server.now.finished + server.arrival_queue.now.unserved == server.of.size


@part
def next_decision(server):
    """Let those go that the last round completed, and see who has come and given up.

    Returns whether anybody is there to decide about. Also false where the log has no room
    for a decision: the kernel is then called again.
    """
    if not has_room(server):
        return False
    complete(server)
    meet(server)
    return not all_over(server)


@part
def has_quit(server, k):
    """The k-th who has given up, if it was known to wait at the last decision; -1 otherwise."""
    i = server.arrival_queue.quitters[k]
    return i if i < server.now.arrived_before else -1


@part
def rounds_to_completion(server):
    """Rounds until the first of the batch completes, or fewer; NEVER for an empty batch.

    Fewer where that request has left the batch since: a decision too many does no harm.
    """
    if server.now.next_done == NEVER:
        return NEVER
    return server.now.next_done - server.round_clock.now.round


@part
def rounds_to_overflow(server, memory):
    """Rounds until the batch would need more than `memory`, if it needs no more now."""
    return (memory - need(server)) // server.now.running + 1


@part
def advance_until(server, rounds, moment):
    """Pass up to `rounds` rounds with this batch; stop where one begins at or after `moment`.

    Also where one more has given up.
    """
    now, round_clock = server.now, server.round_clock
    moment = min(moment, next_to_give_up(server.arrival_queue))
    if now.fresh > 0 or round_clock.now.extra > 0.0:
        context = now.held - now.prefilled
        pass_rounds(round_clock, 1, now.prefilled, now.running - now.fresh, context)
        now.fresh = 0
        now.prefilled = 0
        now.held += now.running
        rounds -= 1
    if rounds > 0 and moment < np.inf:
        rounds = min(rounds, rounds_before(round_clock, moment, now.running, now.held))
    if rounds > 0:
        pass_rounds(round_clock, rounds, 0, now.running, now.held)
        now.held += rounds * now.running


@part
def advance(server, rounds, arrivals_matter):
    """Pass up to `rounds` rounds with this batch; stop where an arrival can be seen."""
    advance_until(server, rounds, next_to_come(server.arrival_queue) if arrivals_matter else np.inf)
