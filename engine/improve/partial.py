"""Partial schedules of a backlog: what runs, what waits, and the loss so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.improve.guide import loss_of_start, price_of_idle
from engine.simulate.profile import earliest_fit, first_after, insert, used_between
from engine.simulate.random_stream import uniform

NO_END = np.iinfo(np.int64).max // 4
PLACE = 20  # work of a look at a waiting request, beside one for every group; roughly a ns each


class Partials(NamedTuple):
    """Room for `many` partial schedules of n requests in order of volume.

    x, alive, slack : (many, groups) int64, the memory profile (engine/simulate/profile.py)
    first : (many,) int64, where it begins
    after, before : (many, n + 1) int32, the waiting requests as a ring; n is its head
    start : (many, n) int32, rounds
    settled : (many,) int64, the round up to which the schedule is settled
    loss : (many,) float64, its loss up to there
    """

    x: np.ndarray
    alive: np.ndarray
    slack: np.ndarray
    first: np.ndarray
    after: np.ndarray
    before: np.ndarray
    start: np.ndarray
    settled: np.ndarray
    loss: np.ndarray


def empty_partials(many: int, n: int, groups: int) -> Partials:
    """`many` schedules in which nothing has started."""
    ring = np.arange(n + 1, dtype=np.int32)
    return Partials(
        x=np.zeros((many, groups), np.int64),
        alive=np.zeros((many, groups), np.int64),
        slack=np.zeros((many, groups), np.int64),
        first=np.full(many, groups),
        after=np.tile((ring + 1) % (n + 1), (many, 1)).astype(np.int32),
        before=np.tile((ring - 1) % (n + 1), (many, 1)).astype(np.int32),
        start=np.zeros((many, n), np.int32),
        settled=np.zeros(many, np.int64),
        loss=np.zeros(many),
    )


@part
def copy_partial(source, a, target, b, with_start):
    first = source.first[a]
    target.first[b] = first
    target.x[b, first:] = source.x[a, first:]
    target.alive[b, first:] = source.alive[a, first:]
    target.slack[b, first:] = source.slack[a, first:]
    target.after[b] = source.after[a]
    target.before[b] = source.before[a]
    target.settled[b] = source.settled[a]
    target.loss[b] = source.loss[a]
    if with_start:
        target.start[b] = source.start[a]


class Taste(NamedTuple):
    """How a random schedule picks who starts next, and when: the request of the highest score.

    window : how many of the waiting requests it looks at, in order of volume
    snug : how much a free token left behind counts against a place in the order
    noise : how much a random number counts for
    pass_over : the probability that a request is passed over
    eager : how much a round until its earliest start counts against a request
    """

    window: int
    snug: float
    noise: float
    pass_over: float
    eager: float


AT_ONCE = 1e6  # eager above all
FIRST_FIT = Taste(6, 0.0, 0.0, 0.0, AT_ONCE)


@kernel
def room_left(x, alive, slack, first, memory, prompt, output, start):
    """The least free memory, in the lifetime of a request started now, that it would leave."""
    end = start + output
    after = first_after(x, first, end)
    ends, free = x[first:after], slack[first:after]
    least = memory
    for g in range(ends.size):
        least = min(least, free[g] - ends[g] + start - prompt)
    if ends.size == 0 or ends[-1] != end:
        at_end = memory - used_between(x, alive, slack, memory, after, end) - prompt - output
        least = min(least, at_end)
    return least


@part
def _score(x, alive, slack, first, memory, prompt, output, at, taste, stream):
    """What counts for a request that starts at `at`, beside its place and its wait."""
    since = first_after(x, first, at)
    left = room_left(x, alive, slack, since, memory, prompt, output, at)
    return taste.noise * uniform(stream) - taste.snug * left


@part
def _walk(partials, b, first, settled, until, taste, pass_over, stream, guide, memory):
    """Who starts next, before `until`, or -1; when; the first group that completes later; work."""
    x, alive, slack, after = partials.x[b], partials.alive[b], partials.slack[b], partials.after[b]
    plain = taste.snug == 0.0 and taste.noise == 0.0
    a_look = PLACE + x.size - first
    picked, then, group, best, work = -1, until, 0, -np.inf, 0
    head = after.size - 1
    i, place = after[head], 0
    while i != head and place < taste.window:
        if pass_over == 0.0 or uniform(stream) >= pass_over:
            prompt, output = guide.prompt[i], guide.output[i]
            at, later = earliest_fit(x, alive, slack, first, memory, prompt, output, settled)
            work += a_look
            if at < until:
                score = -taste.eager * (at - settled) - place
                if not plain:
                    score += _score(
                        x, alive, slack, first, memory, prompt, output, at, taste, stream
                    )
                    work += a_look
                if score > best:
                    picked, then, group, best = i, at, later, score
                    if plain and at == settled:
                        break
        i = after[i]
        place += 1
    return picked, then, group, work


@part
def _let_pass(partials, b, first, settled, then, guide, memory):
    """Time passes to `then` without a start: the groups left, and the price of idle memory."""
    x, alive, slack = partials.x[b], partials.alive[b], partials.slack[b]
    price = 0.0
    while settled < then:
        used, rising, upto = 0, 0, then
        if first < x.size:
            upto = min(then, x[first])
            used, rising = used_between(x, alive, slack, memory, first, upto), alive[first]
        price += price_of_idle(guide, memory, used, rising, settled, upto)
        settled = upto
        while first < x.size and x[first] <= settled:
            first += 1
    return first, price


@part
def _start(partials, b, i, at, guide):
    """Request i of schedule b starts: off the ring of those that wait; what that loses."""
    after, before = partials.after[b], partials.before[b]
    after[before[i]] = after[i]
    before[after[i]] = before[i]
    partials.start[b, i] = at
    return loss_of_start(guide, i, at)


@kernel
def run_until(partials, b, until, taste, stream, guide, memory):
    """Go on with schedule b to round `until`, starting what its taste picks; returns the work.

    Only a start changes where the waiting requests fit, so time goes from start to start.
    """
    x, alive, slack = partials.x[b], partials.alive[b], partials.slack[b]
    first, settled, loss, work = partials.first[b], partials.settled[b], partials.loss[b], 0
    while settled < until:
        for pass_over in (taste.pass_over, 0.0):
            i, then, group, looks = _walk(
                partials, b, first, settled, until, taste, pass_over, stream, guide, memory
            )
            work += looks
            if i >= 0:
                break
        first, idle = _let_pass(partials, b, first, settled, then, guide, memory)
        loss += idle
        settled = then
        if i >= 0:
            first = insert(
                x, alive, slack, first, memory, guide.prompt[i], guide.output[i], settled, group
            )
            loss += _start(partials, b, i, settled, guide)
    partials.first[b], partials.settled[b], partials.loss[b] = first, settled, loss
    return work


@kernel
def least_loss_to_come(partials, b, guide):
    """What the waiting requests lose at least by not having started yet."""
    after, settled = partials.after[b], partials.settled[b]
    head = after.size - 1
    total = 0.0
    i = after[head]
    while i != head and guide.later[i] < settled:
        if guide.cheapest[i] < settled:
            total += loss_of_start(guide, i, settled)
        i = after[i]
    return total
