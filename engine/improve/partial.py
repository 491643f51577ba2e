"""Partial schedules of a backlog: what runs, what waits, and the loss so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.improve.chance import uniform
from engine.improve.guide import loss_of_start, price_of_idle
from engine.simulate.profile import first_after, insert, used_between

NO_END = np.iinfo(np.int64).max // 4
PATIENT = 6  # how many waiting requests plain first fit looks at


class Partials(NamedTuple):
    """Room for `many` partial schedules of n requests in order of volume.

    x, alive, slack : (many, groups) int64, the memory profile (engine/simulate/profile.py)
    first : (many,) int64, where it begins
    after, before : (many, n + 1) int32, the waiting requests as a ring; n is its head
    start : (many, n) int32, rounds
    now : (many,) int64, the round up to which the schedule is settled
    loss : (many,) float64, its loss up to there
    """

    x: np.ndarray
    alive: np.ndarray
    slack: np.ndarray
    first: np.ndarray
    after: np.ndarray
    before: np.ndarray
    start: np.ndarray
    now: np.ndarray
    loss: np.ndarray


def empty_partials(many: int, n: int, groups: int) -> Partials:
    """`many` schedules in which nothing has started."""
    ring = np.arange(n + 1, dtype=np.int32)
    return Partials(
        *(np.zeros((many, groups), np.int64) for _ in range(3)),
        np.full(many, groups),
        np.tile((ring + 1) % (n + 1), (many, 1)).astype(np.int32),
        np.tile((ring - 1) % (n + 1), (many, 1)).astype(np.int32),
        np.zeros((many, n), np.int32),
        np.zeros(many, np.int64),
        np.zeros(many),
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
    target.now[b] = source.now[a]
    target.loss[b] = source.loss[a]
    if with_start:
        target.start[b] = source.start[a]


class Taste(NamedTuple):
    """How a random schedule picks among the waiting requests that fit now.

    window : how many it looks at, in order of volume
    snug : how much a free token left behind counts against a place in the order
    noise : how much chance counts for
    pass_over : the chance that a request that fits is passed over
    """

    window: int
    snug: float
    noise: float
    pass_over: float


@kernel
def room_left(x, alive, slack, first, memory, prompt, output, now):
    """The least free memory, in the lifetime of a request started now, that it would leave."""
    end = now + output
    after = first_after(x, first, end)
    ends, free = x[first:after], slack[first:after]
    least = memory
    for g in range(ends.size):
        least = min(least, free[g] - ends[g] + now - prompt)
    if ends.size == 0 or ends[-1] != end:
        at_end = memory - used_between(x, alive, slack, memory, after, end) - prompt - output
        least = min(least, at_end)
    return least


@kernel
def run_until(partials, b, until, taste, chance, guide, memory):
    """Go on with schedule b to round `until`, starting what its taste picks."""
    x, alive, slack = partials.x[b], partials.alive[b], partials.slack[b]
    after, before = partials.after[b], partials.before[b]
    first, now, loss = partials.first[b], partials.now[b], partials.loss[b]
    head = after.size - 1
    while now < until:
        while first < x.size and x[first] <= now:
            first += 1
        if after[head] == head and first == x.size:
            break
        some_room = False
        while True:
            used = 0
            if first < x.size:
                used = used_between(x, alive, slack, memory, first, now + 1)
            picked, best = -1, -np.inf
            i = after[head]
            place = 0
            while i != head and place < taste.window:
                if used + guide.prompt[i] + 1 <= memory:
                    some_room = True
                    left = room_left(
                        x, alive, slack, first, memory, guide.prompt[i], guide.output[i], now
                    )
                    if left >= 0 and (taste.pass_over == 0.0 or uniform(chance) >= taste.pass_over):
                        if taste.snug == 0.0 and taste.noise == 0.0:
                            picked = i
                            break
                        score = taste.noise * uniform(chance) - place - taste.snug * left
                        if score > best:
                            picked, best = i, score
                i = after[i]
                place += 1
            if picked < 0:
                break
            group = first_after(x, first, now + guide.output[picked])
            first = insert(
                x, alive, slack, first, memory,
                guide.prompt[picked], guide.output[picked], now, group,
            )  # fmt: skip
            after[before[picked]] = after[picked]
            before[after[picked]] = before[picked]
            partials.start[b, picked] = now
            loss += loss_of_start(guide, picked, now)
        # Without room for anyone's next token nothing can start before a completion.
        then = now + 1
        if not some_room:
            then = x[first] if first < x.size else until
        then = min(then, until)
        used, rising = 0, 0
        if first < x.size:
            used = used_between(x, alive, slack, memory, first, then)
            rising = alive[first]
        loss += price_of_idle(guide, memory, used, rising, now, then)
        now = then
    partials.first[b], partials.now[b], partials.loss[b] = first, now, loss


@kernel
def least_loss_to_come(partials, b, guide):
    """What the waiting requests lose at least by not having started yet."""
    after, now = partials.after[b], partials.now[b]
    head = after.size - 1
    total = 0.0
    i = after[head]
    while i != head and guide.later[i] < now:
        if guide.cheapest[i] < now:
            total += loss_of_start(guide, i, now)
        i = after[i]
    return total
