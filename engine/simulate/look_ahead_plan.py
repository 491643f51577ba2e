"""Look-ahead admission on a server whose plans may be wrong.

Look-ahead (engine/simulate/look_ahead.py) asks whether memory stays within the limit if
every running request completes as planned. Where plans are right, asking once is enough.
Where they are not, a request is planned anew as it grows: its planned output is

    min(max(predicted, gen + gen * tenths / 10 rounded down, gen + 1), M - s).

Who is planned to complete in the next round counts in that round only, for which the sum of
s + gen + 1 over the batch is all there is to check. So the profile holds the others, and who
has outgrown a prediction, and is planned for one token more in every round, is not in it.

A planned completion never moves to an earlier time, so the memory that the batch will hold
at any time never falls, unless a request completes or leaves. Hence a waiting request that
does not fit into the next round has to wait for that, and one that only later plans keep out
cannot start before the round that the present profile allows: the kernels may jump to that
round and ask again.

A batch that outgrows its plans is cut back by vLLM's rule (engine/simulate/preempting.py);
nobody is admitted in that round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import part
from engine.simulate.arrival_queue import WAITS
from engine.simulate.preempting import Admission, make_room
from engine.simulate.profile import (
    Profile,
    earliest_fit,
    first_after,
    insert,
    new_profile,
    remove,
)
from engine.simulate.server import (
    admit,
    need,
    rounds_to_completion,
    rounds_to_overflow,
    swap_in,
)
from engine.simulate.timetable import NEVER

LOOK_AHEAD_STATE = np.dtype(
    [
        ("first", "i8"),  # where the profile begins
        ("members", "i8"),  # how many requests it has
    ]
)


class LookAheadPlan(NamedTuple):
    """What the batch will hold if everything goes as planned.

    Attributes
    ----------
    predicted : (n,) int64, output tokens
    tenths : by how many tenths of its generated tokens a request is expected to go on
    limit : tokens that admission may plan to fill, at most M; M on an empty server
    profile : those planned beyond the next round (engine/simulate/profile.py)
    end : (n,) int64, the rounds that complete those in the profile, as planned
    who : (groups,) int64, the requests in the profile
    state : record of dtype LOOK_AHEAD_STATE
    recovery : who has to go when memory runs out
    """

    predicted: np.ndarray
    tenths: int
    limit: int
    profile: Profile
    end: np.ndarray
    who: np.ndarray
    state: np.void
    recovery: Admission


def new_look_ahead_plan(
    predicted: np.ndarray, memory: int, limit: int, recovery: Admission, tenths: int = 0
) -> LookAheadPlan:
    """The plan of an empty server; `predicted` (n,) in order of arrival."""
    # Everyone in the batch holds a prompt and a token, two at least.
    groups = min(len(predicted), memory // 2) + 1
    state = np.zeros(1, LOOK_AHEAD_STATE)[0]
    state["first"] = groups
    end, who = np.zeros(len(predicted), np.int64), np.empty(groups, np.int64)
    return LookAheadPlan(predicted, tenths, limit, new_profile(groups), end, who, state, recovery)


@part
def planned_left(predicted, tenths, room, generated):
    """How many tokens a request is planned to generate from now on, at least 1.

    `room` is what memory leaves for its output.
    """
    planned = max(predicted, generated + generated * tenths // 10, generated + 1)
    return min(planned, room) - generated


@part
def _add_to_profile(plan, i, holding, left, at, after):
    """Request i joins the profile; `after` is the first group that completes after it."""
    x, alive, slack = plan.profile
    state = plan.state
    state.first = insert(x, alive, slack, state.first, plan.limit, holding, left, at, after)
    plan.end[i] = at + left


@part
def _remove_from_profile(server, plan, i):
    """Request i leaves the profile, from which time has not yet taken it."""
    x, alive, slack = plan.profile
    state, residency = plan.state, server.log[server.of[i].residency]
    state.first = remove(x, alive, slack, state.first, residency.held, residency.begin, plan.end[i])
    plan.end[i] = 0


@part
def _replan_outgrown(server, plan):
    """Plan those anew who have come near to what they were planned for, or past it."""
    x, at, state = plan.profile.x, server.round_clock.state.round, plan.state
    for place in range(server.state.running):
        i = server.batch[place]
        r = server.of[i]
        generated, room = r.gen + at - r.since, server.memory - r.prompt
        left = planned_left(plan.predicted[i], plan.tenths, room, generated)
        if plan.end[i] == at + left:
            continue
        if plan.end[i] > at:
            _remove_from_profile(server, plan, i)
        elif left > 1:
            plan.who[state.members] = i
            state.members += 1
        else:
            continue
        after = first_after(x, state.first, at + left)
        _add_to_profile(plan, i, r.prompt + generated, left, at, after)


@part
def refresh_plan(server, plan):
    """Bring the plans up to date; before every decision on admission."""
    x, at, state, who = (
        plan.profile.x,
        server.round_clock.state.round,
        plan.state,
        plan.who,
    )
    while state.first < x.size and x[state.first] <= at:
        state.first += 1
    kept = 0
    for place in range(state.members):
        i = who[place]
        if plan.end[i] <= at:
            continue  # it has completed, or outgrown its plan
        r = server.of[i]
        if r.finish == NEVER and r.done != NEVER:
            who[kept] = i
            kept += 1
        else:  # it completed before the plan, or was preempted
            _remove_from_profile(server, plan, i)
    state.members = kept
    if plan.tenths > 0:
        _replan_outgrown(server, plan)


@part
def _fits_from(server, plan, holding, left):
    """The first round at which a request may start by the plans, and its place in the profile.

    NEVER where only a completion or a preemption can help.
    """
    x, alive, slack = plan.profile
    at, first, limit = (
        server.round_clock.state.round,
        plan.state.first,
        plan.limit,
    )
    if server.state.running == 0:
        return at, x.size
    if holding + left > limit or need(server) + holding + 1 > limit:
        return NEVER, x.size
    # The batch alone may be planned to pass the limit: someone entered an empty server or has
    # outgrown a plan. Then nobody is admitted, not even one who would be gone by then.
    if first < x.size and slack[first:].min() < 0:
        return NEVER, x.size
    return earliest_fit(x, alive, slack, first, limit, holding, left, at)


@part
def admit_if_it_fits(server, plan, i, swapped, transfer):
    """Admit request i if the plans allow it now; the first round at which they might."""
    at, state = server.round_clock.state.round, plan.state
    r = server.of[i]
    holding, room = r.prompt + r.gen, server.memory - r.prompt
    left = planned_left(plan.predicted[i], plan.tenths, room, r.gen)
    start, after = _fits_from(server, plan, holding, left)
    if start == at:
        if left > 1:
            plan.who[state.members] = i
            state.members += 1
            _add_to_profile(plan, i, holding, left, at, after)
        if swapped:
            swap_in(server, i, transfer)
        else:
            admit(server, i, True)
    return start


@part
def next_in_queue(server, candidates, end):
    """The next of candidates[:end] that waits for its first admission; -1 if none does."""
    state = server.state
    while state.passed < end:
        i = candidates[state.passed]
        if server.arrival_queue.status[i] == WAITS:
            return i
        state.passed += 1
    return -1


@part
def admit_along(server, plan, candidates, end):
    """Admit those who were preempted, then along candidates[:end], until one does not fit.

    Returns the round at which that one might fit; NEVER if only a completion can help, or
    nobody waits.
    """
    state, queue, rule = server.state, server.queue, plan.recovery
    while True:
        back = state.queued > 0
        i = queue[state.queued - 1] if back else next_in_queue(server, candidates, end)
        if i < 0:
            return NEVER
        start = admit_if_it_fits(server, plan, i, back and rule.swap, rule.transfer)
        if start > server.round_clock.state.round:
            return start
        state.queued -= back


@part
def recover(server, plan):
    """Preempt until the next round fits; whether anyone was."""
    return need(server) > server.memory and make_room(server, plan.recovery, server.memory)


@part
def rounds_to_change(server, start):
    """Rounds until the batch completes or outgrows something, or until round `start`."""
    rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
    return rounds if start == NEVER else min(rounds, start - server.round_clock.state.round)
