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
kernel gives up. With beta < 1 chance may always help, so it gives up after `patience`.
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
    advance,
    enter,
    let_go,
    lose,
    need,
    next_decision,
    rounds_to_completion,
    rounds_to_overflow,
)
from engine.workload import Workload

STREAK = np.dtype([(name, "i8") for name in ("clearings", "gone", "arrived", "stuck")])


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
    now, come = server.now, server.arrival_queue.now
    gone = now.finished + come.unserved
    if streak.gone != gone or streak.arrived != come.arrived:
        streak.clearings = 0
    streak.gone = gone
    streak.arrived = come.arrived
    streak.clearings += 1
    if streak.clearings > rule.patience:
        streak.stuck = now.running
    return streak.stuck > 0


@part
def _sweep(server, priority_queue, rule, chance):
    """Clear each running request with probability beta."""
    now, batch = server.now, server.batch
    running, kept = now.running, 0
    for place in range(running):
        i = batch[place]
        if uniform(chance) < rule.beta:
            now.running -= 1
            let_go(server, i)
            lose(server, i, False)
            enqueue(server, priority_queue, i)
        else:
            batch[kept] = i
            kept += 1


@part
def _admit(server, priority_queue, rule):
    now = server.now
    while now.queued > 0:
        more = server.of[server.queue[0]].prompt + 1
        if need(server) + more > (rule.limit if now.running > 0 else server.memory):
            break
        enter(server, dequeue(server, priority_queue), True)


@kernel
def _restarting(server, priority_queue, rule, streak, chance):
    now = server.now
    while next_decision(server):
        enqueue_arrivals(server, priority_queue)
        cleared = need(server) > server.memory
        if cleared and _is_stuck(server, rule, streak):
            return
        while need(server) > server.memory:
            _sweep(server, priority_queue, rule, chance)
        if cleared and now.running > 0:
            advance(server, 1, False)
            continue
        _admit(server, priority_queue, rule)
        rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
        advance(server, rounds, now.queued == 0)


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
    chance = seeded(seed)

    def go_on(server: Server) -> None:
        _restarting(server, priority_queue, rule, streak, chance)
        if streak["stuck"]:
            at = int(server.round_clock.now["round"])
            fix = f"raise {key}.alpha, so that admission leaves more memory free, or raise M"
            raise Livelock(key, at, int(streak["stuck"]), fix)

    return serve(workload, memory, clock, go_on, progress)
