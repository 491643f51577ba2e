"""Look-ahead admission: start a request only if no later round can overflow.

At each decision the waiting requests are walked once in policy order; each one
that fits, now and at every completion still to come, starts. The walk passes
over up to `skip` that do not fit and stops at the next (DESIGN 2). With skip 0
this is the prefix rule of MC-SF (arXiv 2502.07115, Algorithm 1).

The kernels jump from decision to decision. What makes that exact: running
requests keep their memory to their known end, so until something new starts
the earliest start of a waiting request does not change, and a start can only
move it later. It is computed once, remembered in `not_before`, and the clock
jumps to the smallest one among the requests the walk can see, or to the next
arrival.

Look-ahead counts in rounds on every clock. What a round lasts only decides when
arrivals are seen, so the rounds clock, where that is known beforehand, has its
own short loop. The other one also passes the time between decisions, batch by
batch; it serves the seconds clock, and closed loops on either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine.clock import ROUNDS, Clock
from engine.compiled import kernel
from engine.simulate.profile import Profile, earliest_fit, insert, new_profile, used_between
from engine.simulate.run import Run, visible_rounds
from engine.simulate.timetable import (
    NEVER,
    new_watch,
    pass_rounds,
    rounds_before,
    timetable_of,
    wait_idle,
)
from engine.simulate.waiting import (
    add_waiting,
    empty_waiting,
    fill_waiting,
    next_waiting,
    remove_waiting,
)
from engine.workload import Workload


class Ranked(NamedTuple):
    """The requests by rank in policy order.

    Attributes
    ----------
    prompt, output : (n,) int64, tokens
    start, not_before : (n,) int64, rounds
    profile : of those that run
    """

    prompt: np.ndarray
    output: np.ndarray
    start: np.ndarray
    not_before: np.ndarray
    profile: Profile


@kernel
def _walk(ranked, waiting, first, memory, skip, now):
    """One decision: start what fits.

    Returns
    -------
    first : where the profile begins now
    started, prefilled : how many requests started, and their prompt tokens
    next_decision : when the first of those passed over fits; NEVER if there is none
    """
    prompt, output, not_before = ranked.prompt, ranked.output, ranked.not_before
    x, alive, slack = ranked.profile
    started, prefilled, passed_over, next_decision = 0, 0, 0, NEVER
    rank = next_waiting(waiting, 0)
    while rank >= 0:
        fits = False
        if not_before[rank] <= now:
            not_before[rank], after = earliest_fit(
                x, alive, slack, first, memory, prompt[rank], output[rank], now
            )
            fits = not_before[rank] == now
        if fits:
            first = insert(x, alive, slack, first, memory, prompt[rank], output[rank], now, after)
            ranked.start[rank] = now
            started += 1
            prefilled += prompt[rank]
            remove_waiting(waiting, rank)
        else:
            next_decision = min(next_decision, not_before[rank])
            passed_over += 1
            if passed_over > skip:
                break
        rank = next_waiting(waiting, rank + 1)
    return first, started, prefilled, next_decision


@kernel
def _start_in_rounds(ranked, visible, by_arrival, memory, skip):
    """Fill in `start`. `by_arrival` lists the ranks by ascending `visible`, (n,) int64 rounds."""
    n = visible.size
    x, first = ranked.profile.x, ranked.profile.x.size
    waiting = empty_waiting(n)
    arrived = 0
    now = visible[by_arrival[0]]
    if visible[by_arrival[n - 1]] == now:
        fill_waiting(waiting, n)
        arrived = n
    left = n
    while left > 0:
        while arrived < n and visible[by_arrival[arrived]] <= now:
            add_waiting(waiting, by_arrival[arrived])
            arrived += 1
        while first < x.size and x[first] <= now:
            first += 1
        first, started, _, next_decision = _walk(ranked, waiting, first, memory, skip, now)
        left -= started
        if arrived < n:
            next_decision = min(next_decision, visible[by_arrival[arrived]])
        now = next_decision


@kernel
def run_batch(profile, watch, first, memory, started, prefilled, until, arrival):
    """Pass the time until round `until`, a round that begins at or after `arrival`, or idleness.

    `started` requests with `prefilled` prompt tokens begin in the first round. Returns
    where the profile begins then.
    """
    x, alive, slack = profile
    now = watch.now
    if started > 0:
        context = used_between(x, alive, slack, memory, first, now.round) - prefilled
        pass_rounds(watch, 1, prefilled, alive[first] - started, context)
    while first < x.size:
        if x[first] <= now.round:
            first += 1
            continue
        if now.round >= until or now.seconds >= arrival:
            break
        context = used_between(x, alive, slack, memory, first, now.round)
        rounds = min(x[first], until) - now.round
        if arrival < np.inf:
            rounds = min(rounds, rounds_before(watch, arrival, alive[first], context))
        pass_rounds(watch, rounds, 0, alive[first], context)
    return first


@kernel
def _start_in_time(ranked, watch, arrival, by_arrival, submitted, memory, skip, with_cache):
    """Fill in `start` and write the watch. `by_arrival` lists the ranks by (n,) `arrival`.

    Those from place `submitted` on arrive one by one as others complete (a closed loop);
    their arrivals are filled in. Requests `with_cache` decode from their first round on.
    """
    n = arrival.size
    profile, now, first = ranked.profile, watch.now, ranked.profile.x.size
    waiting = empty_waiting(n)
    arrived, left = 0, n
    while left > 0 or first < profile.x.size:
        if first == profile.x.size and left == n - arrived:
            wait_idle(watch, arrival[by_arrival[arrived]])
        while arrived < submitted and arrival[by_arrival[arrived]] <= now.seconds:
            rank = by_arrival[arrived]
            ranked.not_before[rank] = now.round
            add_waiting(waiting, rank)
            arrived += 1
        first, started, prefilled, until = _walk(ranked, waiting, first, memory, skip, now.round)
        left -= started
        comes = arrival[by_arrival[arrived]] if arrived < submitted else np.inf
        running = profile.alive[first]
        if with_cache:
            started, prefilled = 0, 0
        if submitted < n:
            until = min(until, profile.x[first])
        first = run_batch(profile, watch, first, memory, started, prefilled, until, comes)
        if submitted < n:
            still = profile.alive[first] if first < profile.x.size else 0
            for _ in range(min(running - still, n - submitted)):
                arrival[by_arrival[submitted]] = now.seconds
                submitted += 1


def look_ahead(
    workload: Workload, memory: int, order: np.ndarray, skip: int = 0, clock: Clock = ROUNDS
) -> Run:
    """Run the requests in `order` under look-ahead admission.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    order : (n,) permutation of request indices, first choice first
    skip : how many waiting requests a walk may pass over

    Returns
    -------
    Run in which nothing ever gives up its KV cache.
    """
    n = len(workload)
    prompt, output = workload.prompt[order], workload.output[order]
    profile = new_profile(min(n, int(output.max())) + 1)
    ranked = Ranked(prompt, output, np.empty(n, np.int64), np.zeros(n, np.int64), profile)
    # Each request starts, arrives and completes once, and each of these ends at most two spans.
    watch = new_watch(clock, 6 * n + 2)
    if clock.is_rounds and not workload.concurrency:
        visible = visible_rounds(workload.arrival)[order]
        ranked.not_before[:] = visible
        _start_in_rounds(ranked, visible, np.argsort(visible, kind="stable"), memory, skip)
    else:
        arrival = workload.arrival[order]
        by_arrival, submitted = np.argsort(arrival, kind="stable"), n
        if workload.concurrency:
            by_arrival = np.argsort(workload.row[order])
            submitted = min(workload.concurrency, n)
            arrival[:] = 0.0
        _start_in_time(
            ranked, watch, arrival, by_arrival, submitted, memory, skip, workload.with_cache
        )
        if workload.concurrency:
            actual = np.empty(n)
            actual[order] = arrival
            workload = replace(workload, arrival=actual)
    start = np.empty_like(ranked.start)
    start[order] = ranked.start
    return Run(
        workload,
        memory,
        start,
        start + workload.output,
        order=order,
        skip=skip,
        timetable=timetable_of(watch),
    )
