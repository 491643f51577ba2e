"""One GPU that serves requests in batches: the state and the moves of every online policy.

A policy's kernel is a loop over decisions. In each it lets finished requests go
(`next_decision`), sees who has arrived (`see_arrivals`), makes room and admits by its own rule
(`leave`, `enter`), and passes time until something can change (`advance`):

    while next_decision(server):
        see_arrivals(server)
        ...
        advance(server, rounds, arrivals_matter)

Tokens are not counted round by round. A request that decodes since round `since` with
`gen` tokens before has gen + round - since of them, and `done` tells the round that
completes it.

The kernels stop when the log of stays is full; `serve` then gives them a longer one and
they go on where they were, which also is where progress is reported and a stop is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine.clock import Clock
from engine.compiled import kernel
from engine.progress import Progress
from engine.simulate.run import Preemptions, Run, Stays
from engine.simulate.timetable import (
    NEVER,
    Watch,
    new_watch,
    pass_rounds,
    rounds_before,
    timetable_of,
    wait_idle,
)
from engine.workload import Workload

STATE = np.dtype(
    [
        (name, "i8")
        for name in (
            *("running", "submitted", "arrived", "started", "queued", "finished"),
            *("stays", "held", "fresh", "prefilled", "next_done", "cut"),
        )
    ]
)
REQUEST = np.dtype(
    [
        ("arrival", "f8"),
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
    of : (n,) of dtype REQUEST, what is known of each request: its arrival and lengths;
        gen, the tokens generated up to round `since`, since when it has decoded, and the
        round that will complete it (`done`; NEVER while it does not decode); the prompt
        tokens `left` to prefill where that is done in chunks; the rounds of its first
        admission (-1 before), first token and completion; how often its KV cache was
        lost, and the tokens that were prefilled or generated again; its open stay; whether
        the KV cache of its prompt comes with it
    batch : (n,) int64, who is in memory, in order of admission; the newest is last
    queue : (n,) int64, who waits, in an order that is the policy's business
    now : record of dtype STATE: how many are running, have a time of arrival (in a closed
        loop the others get theirs as requests finish), have arrived, have been started
        in order of arrival, are queued, have finished; how many stays are written; tokens
        held by the batch; of these, how many requests and tokens are to be prefilled in
        the next round; a round before which nothing completes; how many prompts were cut
    watch : the clock
    log : (m,) of dtype STAY, every stay (engine/simulate/run.py)
    """

    memory: int
    of: np.ndarray
    batch: np.ndarray
    queue: np.ndarray
    now: np.void
    watch: Watch
    log: np.ndarray


@kernel
def has_room(server):
    """Whether the log can take a decision that admits everyone, each in two stays."""
    n = server.of.size
    watch = server.watch
    spans = watch.whole or watch.now.spans + 4 <= watch.spans.size
    return server.now.stays + 2 * n <= server.log.size and spans


@kernel
def tokens(server, i):
    """How many tokens request i has generated."""
    r = server.of[i]
    return r.gen if r.done == NEVER else r.gen + server.watch.now.round - r.since


@kernel
def need(server):
    """Memory at the end of the next round if all of the batch go on: sum of s + gen + 1."""
    return server.now.held + server.now.running


@kernel
def see_arrivals(server):
    """Count those that are there; an idle server with nobody waiting may `wait_for_arrival`."""
    of, seconds, arrived = server.of, server.watch.now.seconds, server.now.arrived
    while arrived < of.size and of[arrived].arrival <= seconds:
        arrived += 1
    server.now.arrived = arrived


@kernel
def wait_for_arrival(server):
    """Nothing runs and nobody waits: the next round begins when the next request arrives."""
    wait_idle(server.watch, server.of[server.now.arrived].arrival)
    see_arrivals(server)


@kernel
def open_stay(server, i, holding, grows):
    now = server.now
    stay = server.log[now.stays]
    stay.request = i
    stay.begin = server.watch.now.round
    stay.end = NEVER
    stay.held = holding
    stay.grows = grows
    server.of[i].stay = now.stays
    now.stays += 1


@kernel
def close_stay(server, i):
    server.log[server.of[i].stay].end = server.watch.now.round


@kernel
def decode(server, i):
    """Request i yields a token in each round from the next one on."""
    r, now, at = server.of[i], server.now, server.watch.now.round
    r.since = at
    r.done = at + r.output - r.gen
    now.next_done = min(now.next_done, r.done)
    if r.first == NEVER:
        r.first = at + 1


@kernel
def join(server, i):
    """Request i holds its prompt and generated tokens, at the end of the batch."""
    r, now = server.of[i], server.now
    if r.start < 0:
        r.start = server.watch.now.round
    server.batch[now.running] = i
    now.running += 1
    holding = r.prompt + r.gen
    now.held += holding
    return holding


@kernel
def enter(server, i, prefill):
    """Admit request i; its first token of this stay comes in the next round.

    `prefill`: whether its prompt and generated tokens are prefilled in that round; a
    request whose KV cache was swapped in decodes at once.
    """
    now, r = server.now, server.of[i]
    holding = join(server, i)
    open_stay(server, i, holding, 1)
    decode(server, i)
    if prefill and not r.cached:
        now.fresh += 1
        now.prefilled += holding
    r.cached = 0


@kernel
def let_go(server, i):
    """Request i, no longer in the batch, frees its memory; its tokens are settled in `gen`."""
    r, now = server.of[i], server.now
    r.gen = tokens(server, i)
    r.done = NEVER
    now.held -= r.prompt + r.gen
    close_stay(server, i)


@kernel
def leave(server, place):
    """Take the request at `place` out of the batch."""
    now, batch = server.now, server.batch
    i = batch[place]
    for later in range(place + 1, now.running):
        batch[later - 1] = batch[later]
    now.running -= 1
    let_go(server, i)
    return i


@kernel
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


@kernel
def drop(server, place, keep_tokens):
    """The request at `place` leaves and loses its KV cache."""
    i = leave(server, place)
    lose(server, i, keep_tokens)
    return i


@kernel
def swap_out(server, place, transfer):
    """The request at `place` leaves; its KV cache moves out, `transfer` seconds a token."""
    i = leave(server, place)
    r = server.of[i]
    r.lost += 1
    server.watch.now.extra += transfer * (r.prompt + r.gen)
    return i


@kernel
def swap_in(server, i, transfer):
    """Admit request i, whose KV cache was swapped out; it decodes in the next round."""
    server.watch.now.extra += transfer * (server.of[i].prompt + server.of[i].gen)
    enter(server, i, False)


@kernel
def complete(server):
    """Let those go that the last round completed."""
    now, of, batch, at = server.now, server.of, server.batch, server.watch.now.round
    if at < now.next_done:
        return
    kept, running, next_done = 0, now.running, NEVER
    for place in range(running):
        i = batch[place]
        done = of[i].done
        if done == at:
            r = of[i]
            r.finish = at
            close_stay(server, i)
            now.held -= r.prompt + r.output
            now.finished += 1
            if now.submitted < of.size:
                of[now.submitted].arrival = server.watch.now.seconds
                now.submitted += 1
        else:
            batch[kept] = i
            kept += 1
            next_done = min(next_done, done)
    now.running = kept
    now.next_done = next_done


@kernel
def next_decision(server):
    """Let those go that the last round completed; whether anybody is left to decide about.

    Also false where the log has no room for a decision: the kernel is then called again.
    """
    if not has_room(server):
        return False
    complete(server)
    return server.now.finished < server.of.size


@kernel
def rounds_to_completion(server):
    """Rounds until the first of the batch completes, or fewer; NEVER for an empty batch.

    Fewer where that request has left the batch since: a decision too many does no harm.
    """
    if server.now.next_done == NEVER:
        return NEVER
    return server.now.next_done - server.watch.now.round


@kernel
def rounds_to_overflow(server, memory):
    """Rounds until the batch would need more than `memory`, if it needs no more now."""
    return (memory - need(server)) // server.now.running + 1


@kernel
def advance_until(server, rounds, moment):
    """Pass up to `rounds` rounds with this batch; stop where one begins at or after `moment`."""
    now, watch = server.now, server.watch
    if now.fresh > 0 or watch.now.extra > 0.0:
        context = now.held - now.prefilled
        pass_rounds(watch, 1, now.prefilled, now.running - now.fresh, context)
        now.fresh = 0
        now.prefilled = 0
        now.held += now.running
        rounds -= 1
    if rounds > 0 and moment < np.inf:
        rounds = min(rounds, rounds_before(watch, moment, now.running, now.held))
    if rounds > 0:
        pass_rounds(watch, rounds, 0, now.running, now.held)
        now.held += rounds * now.running


@kernel
def next_arrival(server):
    """When the next request comes; infinity if none does."""
    arrived = server.now.arrived
    return server.of[arrived].arrival if arrived < server.of.size else np.inf


@kernel
def advance(server, rounds, arrivals_matter):
    """Pass up to `rounds` rounds with this batch; stop where an arrival can be seen."""
    advance_until(server, rounds, next_arrival(server) if arrivals_matter else np.inf)


def arrival_order(workload: Workload) -> np.ndarray:
    """(n,) int64: the workload indices of a server's requests, in order of arrival."""
    if workload.concurrency:
        return np.argsort(workload.row)
    return workload.ascending(workload.arrival)


def open_server(workload: Workload, memory: int, clock: Clock) -> tuple[Server, np.ndarray]:
    """An empty server, and the (n,) workload indices of its requests in order of arrival."""
    n = len(workload)
    order = arrival_order(workload)
    submitted = min(workload.concurrency, n) if workload.concurrency else n
    of = np.zeros(n, REQUEST)
    for name in ("arrival", "prompt", "output"):
        of[name] = getattr(workload, name)[order]
    for name in ("done", "first", "finish"):
        of[name] = NEVER
    if workload.concurrency:
        of["arrival"] = np.where(np.arange(n) < submitted, 0.0, np.inf)
    of["start"] = -1
    of["cached"] = workload.with_cache
    now = np.zeros(1, STATE)[0]
    now["next_done"] = NEVER
    now["submitted"] = submitted
    server = Server(
        memory,
        of,
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        now,
        new_watch(clock, 6 * n + 8),
        np.empty(4 * n + 8, STAY),
    )
    return server, order


def _longer(log: np.ndarray) -> np.ndarray:
    """The same with half as much room again."""
    more = np.empty(log.size + log.size // 2, log.dtype)
    more[: log.size] = log
    return more


def with_longer_log(server: Server) -> Server:
    watch = server.watch._replace(spans=_longer(server.watch.spans))
    return server._replace(watch=watch, log=_longer(server.log))


Serve = Callable[[Server], None]


def serve(workload: Workload, memory: int, clock: Clock, rule: Serve, progress: Progress) -> Run:
    """Run the requests under a policy's kernel.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    rule : goes on with a server until all have finished or the log has no room
    """
    server, order = open_server(workload, memory, clock)
    n = len(order)
    rule(server)
    while server.now["finished"] < n:
        progress(float(server.now["finished"]) / n)
        server = with_longer_log(server)
        rule(server)
    return run_of(server, order, workload)


def run_of(server: Server, order: np.ndarray, workload: Workload) -> Run:
    """The run that a server has logged."""

    def by_request(name):
        result = np.empty(len(order), REQUEST[name])
        result[order] = server.of[name]
        return result

    log = server.log[: int(server.now["stays"])]
    log = log[log["end"] > log["begin"]]  # some were over in the decision that began them
    plain = len(log) == len(order)
    columns = [log[name].copy() for name in STAY.names]
    columns[0] = order[columns[0]]
    lost = by_request("lost")
    if workload.concurrency:
        workload = replace(workload, arrival=by_request("arrival"))
    return Run(
        workload,
        server.memory,
        by_request("start"),
        by_request("finish"),
        first=by_request("first"),
        logged=None if plain else Stays(*columns),
        preempted=Preemptions(lost, by_request("recomputed")) if lost.any() else None,
        cut_prompts=bool(server.now["cut"]),
        timetable=timetable_of(server.watch),
    )
