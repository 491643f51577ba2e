"""A multi-level feedback queue: who has generated much has to wait (FastServe).

Level p has a quantum of q * 2^p tokens. A request joins the first level whose quantum
covers its prompt at 512 prompt tokens to the output token, sinks a level when it has used
up its quantum there, and is back on level 0 after `starved` rounds in a row without
service. Before each round the longest prefix by (level, arrival) runs
(engine/simulate/best_ranked.py), the others are swapped out.

Ranks change only where a quantum is used up or somebody has starved; the kernel jumps to
the first of these, the next arrival, completion or overflow. Those who might starve, below
level 0 and without service, are linked in the order in which they began to wait, so that
the first of them is the next to starve.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.arrival_queue import (
    arrival_order,
    count_quitters,
    next_newcomer,
    quitter,
)
from engine.simulate.best_ranked import keep_best
from engine.simulate.priority_queue import enqueue_arrivals, move_up, new_priority_queue
from engine.simulate.schedule import Schedule
from engine.simulate.serve import serve
from engine.simulate.server import (
    advance,
    next_decision,
    rounds_to_completion,
    rounds_to_overflow,
    tokens,
)
from engine.simulate.timetable import NEVER
from engine.workload import Workload

PROMPT_TOKENS = 512  # as much work as one output token


class Levels(NamedTuple):
    """The queue's settings.

    Attributes
    ----------
    quantum : tokens of level 0
    starved : rounds without service after which a request is back on level 0
    transfer : seconds to move one token's KV cache, added to the round on either side
    """

    quantum: int
    starved: int
    transfer: float


class Feedback(NamedTuple):
    """What is known of each request, and the links of those who might starve.

    Attributes
    ----------
    level : (n,) int64
    mark : (n,) int64, tokens it had generated when it came to its level
    since : (n,) int64, the round since when it waits; NEVER while it is not linked
    older, newer : (n + 1,) int64, its neighbours by `since`; entry n is both ends of the chain
    """

    level: np.ndarray
    mark: np.ndarray
    since: np.ndarray
    older: np.ndarray
    newer: np.ndarray


@part
def _link(feedback, i, at):
    older, newer = feedback.older, feedback.newer
    end = older.size - 1
    feedback.since[i] = at
    older[i], newer[i] = older[end], end
    newer[older[end]] = i
    older[end] = i


@part
def _unlink(feedback, i):
    older, newer = feedback.older, feedback.newer
    feedback.since[i] = NEVER
    newer[older[i]] = newer[i]
    older[newer[i]] = older[i]


@part
def _sink(server, priority_queue, feedback, rules):
    """Those of the batch that have used up their quantum go one level down."""
    for place in range(server.state.running):
        i = server.batch[place]
        generated = tokens(server, i)
        if generated - feedback.mark[i] == rules.quantum << feedback.level[i]:
            feedback.level[i] += 1
            feedback.mark[i] = generated
            priority_queue.key[i] = feedback.level[i]


@part
def _rise(server, priority_queue, feedback, rules):
    """Those who have starved are back on level 0."""
    end = server.of.size
    oldest, at = feedback.newer[end], server.round_clock.state.round
    while oldest != end and feedback.since[oldest] + rules.starved <= at:
        _unlink(feedback, oldest)
        feedback.level[oldest] = 0
        feedback.mark[oldest] = server.of[oldest].gen
        priority_queue.key[oldest] = 0
        move_up(server, priority_queue, oldest)
        oldest = feedback.newer[end]


@part
def _rounds_to_change(server, feedback, rules):
    """Rounds until somebody's level changes."""
    rounds = NEVER
    oldest = feedback.newer[server.of.size]
    if oldest != server.of.size:
        rounds = feedback.since[oldest] + rules.starved - server.round_clock.state.round
    for place in range(server.state.running):
        i = server.batch[place]
        used = tokens(server, i) - feedback.mark[i]
        rounds = min(rounds, (rules.quantum << feedback.level[i]) - used)
    return rounds


@part
def _relink(server, feedback, before, running):
    """Chain those who began to wait in this decision, unchain those who run or have given up.

    `before[:running]` was the batch before it.
    """
    arrival_queue, at = server.arrival_queue, server.round_clock.state.round
    for place in range(server.state.running):
        if feedback.since[server.batch[place]] != NEVER:
            _unlink(feedback, server.batch[place])
    for k in range(count_quitters(arrival_queue)):
        i = quitter(arrival_queue, k)
        if feedback.since[i] != NEVER:
            _unlink(feedback, i)
    for place in range(running):
        i = before[place]
        waits = server.of[i].done == NEVER and server.of[i].finish == NEVER
        if waits and feedback.level[i] > 0:
            _link(feedback, i, at)
    i = next_newcomer(arrival_queue, 0)
    while i >= 0:
        if feedback.level[i] > 0:
            _link(feedback, i, at)
        i = next_newcomer(arrival_queue, i + 1)


@kernel
def _feedback_queue(server, priority_queue, feedback, before, rules):
    state = server.state
    while next_decision(server):
        _sink(server, priority_queue, feedback, rules)
        running = state.running
        before[:running] = server.batch[:running]
        enqueue_arrivals(server, priority_queue)
        _rise(server, priority_queue, feedback, rules)
        keep_best(server, priority_queue, True, rules.transfer)
        _relink(server, feedback, before, running)
        rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
        advance(server, min(rounds, _rounds_to_change(server, feedback, rules)), True)


def first_level(prompt: np.ndarray, quantum: int) -> np.ndarray:
    """(n,) int64: the first level whose quantum covers the prompt."""
    needs = -(-prompt // PROMPT_TOKENS)
    level = np.zeros(len(prompt), np.int64)
    while (short := quantum << level < needs).any():
        level += short
    return level


def feedback_queue(
    workload: Workload, memory: int, rules: Levels, clock: Clock, progress: Progress
) -> Schedule:
    """Run the requests, each of which fits in `memory`, under the rule above."""
    n = len(workload)
    level = first_level(workload.prompt[arrival_order(workload)], rules.quantum)
    priority_queue = new_priority_queue(level)
    feedback = Feedback(
        level=level,
        mark=np.zeros(n, np.int64),
        since=np.full(n, NEVER),
        older=np.full(n + 1, n),
        newer=np.full(n + 1, n),
    )
    before = np.empty(n, np.int64)
    rule = partial(
        _feedback_queue,
        priority_queue=priority_queue,
        feedback=feedback,
        before=before,
        rules=rules,
    )
    return serve(workload, memory, clock, rule, progress)
