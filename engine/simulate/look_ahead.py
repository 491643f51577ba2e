"""Look-ahead admission: start a request only if no later round can overflow.

At each decision the waiting requests are walked once in policy order; each one
that fits, now and at every completion still to come, starts. The walk passes
over up to `skip` that do not fit and stops at the next (docs/model.md 2.2). With skip 0
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
batch; it serves the seconds clock, and on either those whose coming and going
depends on the run: closed loops, and clients who are turned away or give up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.machine.clock import ROUNDS, Clock
from engine.simulate.arrival_queue import (
    arrival_order,
    as_it_came,
    count_quitters,
    has_changed,
    mark_admitted,
    new_arrival_queue,
    next_arrival,
    next_newcomer,
    next_to_give_up,
    quitter,
    receive_arrivals,
    submit_next,
    who_left,
)
from engine.simulate.profile import Profile, earliest_fit, insert, new_profile, used_between
from engine.simulate.schedule import Schedule, Walk, visible_rounds
from engine.simulate.timetable import (
    NEVER,
    new_round_clock,
    pass_rounds,
    rounds_before,
    timetable_of,
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
    start, not_before : (n,) int64, rounds; start is -1 before it
    just_started : (n,) int64, whom the last walk started
    profile : of those that run
    """

    prompt: np.ndarray
    output: np.ndarray
    start: np.ndarray
    not_before: np.ndarray
    just_started: np.ndarray
    profile: Profile


@part
def _walk(ranked, waiting, first, memory, skip, decision):
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
        if not_before[rank] <= decision:
            not_before[rank], after = earliest_fit(
                x, alive, slack, first, memory, prompt[rank], output[rank], decision
            )
            fits = not_before[rank] == decision
        if fits:
            first = insert(
                x, alive, slack, first, memory, prompt[rank], output[rank], decision, after
            )
            ranked.start[rank] = decision
            ranked.just_started[started] = rank
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
    decision = visible[by_arrival[0]]
    if visible[by_arrival[n - 1]] == decision:
        fill_waiting(waiting, n)
        arrived = n
    left = n
    while left > 0:
        while arrived < n and visible[by_arrival[arrived]] <= decision:
            add_waiting(waiting, by_arrival[arrived])
            arrived += 1
        while first < x.size and x[first] <= decision:
            first += 1
        first, started, _, next_decision = _walk(ranked, waiting, first, memory, skip, decision)
        left -= started
        if arrived < n:
            next_decision = min(next_decision, visible[by_arrival[arrived]])
        decision = next_decision


@kernel
def run_batch(profile, round_clock, first, memory, started, prefilled, until, arrival):
    """Pass the time until round `until`, a round that begins at or after `arrival`, or idleness.

    `started` requests with `prefilled` prompt tokens begin in the first round. Returns
    where the profile begins then.
    """
    x, alive, slack = profile
    state = round_clock.state
    if started > 0:
        context = used_between(x, alive, slack, memory, first, state.round) - prefilled
        pass_rounds(round_clock, 1, prefilled, alive[first] - started, context)
    while first < x.size:
        if x[first] <= state.round:
            first += 1
            continue
        if state.round >= until or state.seconds >= arrival:
            break
        context = used_between(x, alive, slack, memory, first, state.round)
        rounds = min(x[first], until) - state.round
        if arrival < np.inf:
            rounds = min(rounds, rounds_before(round_clock, arrival, alive[first], context))
        pass_rounds(round_clock, rounds, 0, alive[first], context)
    return first


@part
def _update_waiting(ranked, waiting, arrival_queue, rank_of, decision):
    """Those who have given up wait no longer, those who have come do."""
    for k in range(count_quitters(arrival_queue)):
        i = quitter(arrival_queue, k)
        remove_waiting(waiting, rank_of[i])
    i = next_newcomer(arrival_queue, 0)
    while i >= 0:
        ranked.not_before[rank_of[i]] = decision
        add_waiting(waiting, rank_of[i])
        i = next_newcomer(arrival_queue, i + 1)


@kernel
def _start_in_time(
    ranked, round_clock, arrival_queue, rank_of, number_of, memory, skip, with_cache
):
    """Fill in `start` and the round clock's spans.

    `rank_of` (n,) int64 are the ranks of the arrival queue's requests, `number_of` the reverse.
    Requests `with_cache` decode from their first round on.
    """
    profile, state, counts, first = (
        ranked.profile,
        round_clock.state,
        arrival_queue.counts,
        ranked.profile.x.size,
    )
    n, in_loop = rank_of.size, counts.submitted < rank_of.size
    waiting = empty_waiting(n)
    while counts.arrived < n or counts.waiting > 0 or first < profile.x.size:
        receive_arrivals(arrival_queue, round_clock, first == profile.x.size)
        if has_changed(arrival_queue):
            _update_waiting(ranked, waiting, arrival_queue, rank_of, state.round)
        first, started, prefilled, until = _walk(ranked, waiting, first, memory, skip, state.round)
        for k in range(started):
            mark_admitted(arrival_queue, number_of[ranked.just_started[k]])
        if first == profile.x.size:
            continue  # everyone who was left has given up
        running = profile.alive[first]
        if with_cache:
            started, prefilled = 0, 0
        if in_loop:
            until = min(until, profile.x[first])
        moment = min(next_arrival(arrival_queue), next_to_give_up(arrival_queue))
        first = run_batch(profile, round_clock, first, memory, started, prefilled, until, moment)
        if in_loop:
            still = profile.alive[first] if first < profile.x.size else 0
            for _ in range(running - still):
                submit_next(arrival_queue, state.seconds)


def look_ahead(
    workload: Workload, memory: int, order: np.ndarray, skip: int = 0, clock: Clock = ROUNDS
) -> Schedule:
    """Run the requests in `order` under look-ahead admission.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    order : (n,) permutation of request indices, first choice first
    skip : how many waiting requests a walk may pass over

    Returns
    -------
    Schedule in which nothing ever gives up its KV cache.
    """
    n = len(workload)
    prompt, output = workload.prompt[order], workload.output[order]
    profile = new_profile(min(n, int(output.max())) + 1)
    numbers = np.full(n, -1), np.zeros(n, np.int64), np.empty(n, np.int64)
    ranked = Ranked(prompt, output, *numbers, profile)
    # Each request starts, arrives and completes once, and each of these ends at most two
    # spans, as does one that gives up.
    round_clock = new_round_clock(clock, 8 * n + 2)
    if clock.is_rounds and not workload.depends_on_run:
        visible = visible_rounds(workload.arrival)[order]
        ranked.not_before[:] = visible
        _start_in_rounds(ranked, visible, np.argsort(visible, kind="stable"), memory, skip)
        left = None
    else:
        workload, left = _run_in_time(ranked, round_clock, workload, order, memory, skip)
    start = np.empty_like(ranked.start)
    start[order] = ranked.start
    return Schedule(
        workload,
        memory,
        start,
        start + workload.output,
        timetable=timetable_of(round_clock),
        walk=Walk(order, skip),
        left=left,
    )


def _run_in_time(ranked, round_clock, workload, order, memory, skip):
    """Run on the round clock; the workload as it came, and who left unserved."""
    by_arrival = arrival_order(workload)
    arrival_queue = new_arrival_queue(workload, by_arrival)
    rank, number = np.empty_like(order), np.empty_like(by_arrival)
    rank[order] = number[by_arrival] = np.arange(len(order))
    _start_in_time(
        ranked,
        round_clock,
        arrival_queue,
        rank[by_arrival],
        number[order],
        memory,
        skip,
        workload.with_cache,
    )
    if workload.concurrency:
        workload = replace(workload, arrival=as_it_came(workload, arrival_queue, by_arrival))
    return workload, who_left(arrival_queue, by_arrival)
