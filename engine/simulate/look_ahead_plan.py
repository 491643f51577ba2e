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
    enter,
    need,
    rounds_to_completion,
    rounds_to_overflow,
    swap_in,
)
from engine.simulate.timetable import NEVER

PLANS = np.dtype([("first", "i8"), ("members", "i8")])


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
    now : record of dtype PLANS: where the profile begins, and how many requests it has
    recovery : who has to go when memory runs out
    """

    predicted: np.ndarray
    tenths: int
    limit: int
    profile: Profile
    end: np.ndarray
    who: np.ndarray
    now: np.void
    recovery: Admission


def new_look_ahead_plan(
    predicted: np.ndarray, memory: int, limit: int, recovery: Admission, tenths: int = 0
) -> LookAheadPlan:
    """The outlook of an empty server; `predicted` (n,) in order of arrival."""
    # Everyone in the batch holds a prompt and a token, two at least.
    groups = min(len(predicted), memory // 2) + 1
    now = np.zeros(1, PLANS)[0]
    now["first"] = groups
    end, who = np.zeros(len(predicted), np.int64), np.empty(groups, np.int64)
    return LookAheadPlan(predicted, tenths, limit, new_profile(groups), end, who, now, recovery)


@part
def planned_left(predicted, tenths, room, generated):
    """How many tokens a request is planned to generate from now on, at least 1.

    `room` is what memory leaves for its output.
    """
    planned = max(predicted, generated + generated * tenths // 10, generated + 1)
    return min(planned, room) - generated


@part
def _plan_in(look_ahead_plan, i, holding, left, at, after):
    """Request i joins the profile; `after` is the first group that completes after it."""
    x, alive, slack = look_ahead_plan.profile
    now = look_ahead_plan.now
    now.first = insert(x, alive, slack, now.first, look_ahead_plan.limit, holding, left, at, after)
    look_ahead_plan.end[i] = at + left


@part
def _plan_out(server, look_ahead_plan, i):
    """Request i leaves the profile, from which time has not yet taken it."""
    x, alive, slack = look_ahead_plan.profile
    now, stay = look_ahead_plan.now, server.log[server.of[i].stay]
    now.first = remove(x, alive, slack, now.first, stay.held, stay.begin, look_ahead_plan.end[i])
    look_ahead_plan.end[i] = 0


@part
def _stretch(server, look_ahead_plan):
    """Plan those anew who have come near to what they were planned for, or past it."""
    x, at, now = look_ahead_plan.profile.x, server.round_clock.now.round, look_ahead_plan.now
    for place in range(server.now.running):
        i = server.batch[place]
        r = server.of[i]
        generated, room = r.gen + at - r.since, server.memory - r.prompt
        left = planned_left(look_ahead_plan.predicted[i], look_ahead_plan.tenths, room, generated)
        if look_ahead_plan.end[i] == at + left:
            continue
        if look_ahead_plan.end[i] > at:
            _plan_out(server, look_ahead_plan, i)
        elif left > 1:
            look_ahead_plan.who[now.members] = i
            now.members += 1
        else:
            continue
        after = first_after(x, now.first, at + left)
        _plan_in(look_ahead_plan, i, r.prompt + generated, left, at, after)


@part
def look_out(server, look_ahead_plan):
    """Bring the plans up to date; before every decision on admission."""
    x, at, now, who = (
        look_ahead_plan.profile.x,
        server.round_clock.now.round,
        look_ahead_plan.now,
        look_ahead_plan.who,
    )
    while now.first < x.size and x[now.first] <= at:
        now.first += 1
    kept = 0
    for place in range(now.members):
        i = who[place]
        if look_ahead_plan.end[i] <= at:
            continue  # it has completed, or outgrown its plan
        r = server.of[i]
        if r.finish == NEVER and r.done != NEVER:
            who[kept] = i
            kept += 1
        else:  # it completed before the plan, or was preempted
            _plan_out(server, look_ahead_plan, i)
    now.members = kept
    if look_ahead_plan.tenths > 0:
        _stretch(server, look_ahead_plan)


@part
def _fits_from(server, look_ahead_plan, holding, left):
    """The first round at which a request may start by the plans, and its place in the profile.

    NEVER where only a completion or a preemption can help.
    """
    x, alive, slack = look_ahead_plan.profile
    at, first, limit = (
        server.round_clock.now.round,
        look_ahead_plan.now.first,
        look_ahead_plan.limit,
    )
    if server.now.running == 0:
        return at, x.size
    if holding + left > limit or need(server) + holding + 1 > limit:
        return NEVER, x.size
    # The batch alone may be planned to pass the limit: someone entered an empty server or has
    # outgrown a plan. Then nobody is admitted, not even one who would be gone by then.
    if first < x.size and slack[first:].min() < 0:
        return NEVER, x.size
    return earliest_fit(x, alive, slack, first, limit, holding, left, at)


@part
def admit_if_it_fits(server, look_ahead_plan, i, swapped, transfer):
    """Admit request i if the plans allow it now; the first round at which they might."""
    at, now = server.round_clock.now.round, look_ahead_plan.now
    r = server.of[i]
    holding, room = r.prompt + r.gen, server.memory - r.prompt
    left = planned_left(look_ahead_plan.predicted[i], look_ahead_plan.tenths, room, r.gen)
    start, after = _fits_from(server, look_ahead_plan, holding, left)
    if start == at:
        if left > 1:
            look_ahead_plan.who[now.members] = i
            now.members += 1
            _plan_in(look_ahead_plan, i, holding, left, at, after)
        if swapped:
            swap_in(server, i, transfer)
        else:
            enter(server, i, True)
    return start


@part
def next_in_queue(server, line, end):
    """The next of line[:end] that waits for its first admission; -1 if none does."""
    now = server.now
    while now.passed < end:
        i = line[now.passed]
        if server.arrival_queue.status[i] == WAITS:
            return i
        now.passed += 1
    return -1


@part
def admit_along(server, look_ahead_plan, line, end):
    """Admit those who were preempted, then along line[:end], until one does not fit.

    Returns the round at which that one might fit; NEVER if only a completion can help, or
    nobody waits.
    """
    now, queue, rule = server.now, server.queue, look_ahead_plan.recovery
    while True:
        back = now.queued > 0
        i = queue[now.queued - 1] if back else next_in_queue(server, line, end)
        if i < 0:
            return NEVER
        start = admit_if_it_fits(server, look_ahead_plan, i, back and rule.swap, rule.transfer)
        if start > server.round_clock.now.round:
            return start
        now.queued -= back


@part
def recover(server, look_ahead_plan):
    """Preempt until the next round fits; whether anyone was."""
    return need(server) > server.memory and make_room(
        server, look_ahead_plan.recovery, server.memory
    )


@part
def rounds_to_change(server, start):
    """Rounds until the batch completes or outgrows something, or until round `start`."""
    rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
    return rounds if start == NEVER else min(rounds, start - server.round_clock.now.round)
