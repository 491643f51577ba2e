"""Admission below a protected share of M, and clearing when memory still runs out.

Before each round, with `need` the sum of s + gen + 1 over running requests (arXiv
2502.07115, its two baselines):

1. while need > M, the running requests are swept in order of admission and each is cleared
   with probability beta: it loses its tokens and waits again at its arrival position;
2. unless someone was cleared and others still run, requests are admitted in order of
   arrival while need, those just admitted included, stays within the limit (1 - alpha) M;
   on an empty server the limit is M itself.

With beta = 1 everyone is cleared and admission follows at once: alpha-protection greedy.

Need only grows until a completion or a clearing, so a blocked head stays blocked until
then, and the kernel jumps to the next completion or to the round in which need passes M.

Livelock. With beta = 1 a clearing empties the server, and who is admitted next depends
only on who waits. If nobody completes, arrives or gives up between, the second and all later
clearings therefore meet the same set with the same progress: at the third in a row the
kernel gives up. With beta < 1 luck may always help, so it gives up after `patience`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.errors import Livelock
from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.priority_queue import dequeue, enqueue, enqueue_arrivals, new_priority_queue
from engine.simulate.random_stream import seeded, uniform
from engine.simulate.schedule import Schedule
from engine.simulate.serve import serve
from engine.simulate.server import (
    Server,
    admit,
    advance,
    lose_cache,
    need,
    next_decision,
    release,
    rounds_to_completion,
    rounds_to_overflow,
)
from engine.workload import Workload

STREAK = np.dtype(
    [
        ("clearings", "i8"),  # how many in a row
        ("gone", "i8"),  # requests that had finished or left at the last of them
        ("arrived", "i8"),  # and those that had come
        ("stuck", "i8"),  # how many restart for ever; 0 as long as that is not known
    ]
)


class Clearing(NamedTuple):
    """How the server protects itself.

    Attributes
    ----------
    limit : tokens an admission may fill, at most M
    beta : the probability with which a sweep clears a request, above 0
    patience : clearings without a completion or an arrival between that are no livelock yet
    """

    limit: int
    beta: float
    patience: int


@part
def _is_stuck(server, rule, streak):
    """Count a clearing; whether there have been too many in a row."""
    state, counts = server.state, server.arrival_queue.counts
    gone = state.finished + counts.unserved
    if streak.gone != gone or streak.arrived != counts.arrived:
        streak.clearings = 0
    streak.gone = gone
    streak.arrived = counts.arrived
    streak.clearings += 1
    if streak.clearings > rule.patience:
        streak.stuck = state.running
    return streak.stuck > 0


@part
def _sweep(server, priority_queue, rule, stream):
    """Clear each running request with probability beta."""
    state, batch = server.state, server.batch
    running, kept = state.running, 0
    for place in range(running):
        i = batch[place]
        if uniform(stream) < rule.beta:
            state.running -= 1
            release(server, i)
            lose_cache(server, i, False)
            enqueue(server, priority_queue, i)
        else:
            batch[kept] = i
            kept += 1


@part
def _admit(server, priority_queue, rule):
    state = server.state
    while state.queued > 0:
        more = server.of[server.queue[0]].prompt + 1
        if need(server) + more > (rule.limit if state.running > 0 else server.memory):
            break
        admit(server, dequeue(server, priority_queue), True)


@kernel
def _restarting(server, priority_queue, rule, streak, stream):
    state = server.state
    while next_decision(server):
        enqueue_arrivals(server, priority_queue)
        cleared = need(server) > server.memory
        if cleared and _is_stuck(server, rule, streak):
            return
        while need(server) > server.memory:
            _sweep(server, priority_queue, rule, stream)
        if cleared and state.running > 0:
            advance(server, 1, False)
            continue
        _admit(server, priority_queue, rule)
        rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
        advance(server, rounds, state.queued == 0)


def restarting(
    key: str,
    workload: Workload,
    memory: int,
    rule: Clearing,
    seed: int,
    clock: Clock,
    progress: Progress,
) -> Schedule:
    """Run the requests in order of arrival under the rule above.

    Parameters
    ----------
    key : the policy's, for messages
    workload : requests that each fit in `memory`
    seed : of the sweeps

    Raises
    ------
    Livelock
        When the same requests restart again and again.
    """
    priority_queue = new_priority_queue(np.zeros(len(workload)))
    streak = np.zeros(1, STREAK)[0]
    stream = seeded(seed)

    def go_on(server: Server) -> None:
        _restarting(server, priority_queue, rule, streak, stream)
        if streak["stuck"]:
            at = int(server.round_clock.state["round"])
            fix = f"raise {key}.alpha, so that admission leaves more memory free, or raise M"
            raise Livelock(key, at, int(streak["stuck"]), fix)

    return serve(workload, memory, clock, go_on, progress)
