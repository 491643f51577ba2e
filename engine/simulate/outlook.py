"""Look-ahead admission on a server whose plans may be wrong.

Look-ahead (engine/simulate/look_ahead.py) asks whether memory stays within the limit if
every running request completes as planned. Where plans are right, asking once is enough.
Where they are not, a request is planned anew as it grows: its planned output is

    min(max(predicted, gen + gen * tenths / 10 rounded down, gen + 1), M - s),

so a planned completion never moves to an earlier time, and the memory that the batch will
hold at any time never falls, unless a request completes or leaves. Hence a waiting request
cannot start before the round that the present plans allow, and the kernels may jump to
that round and ask again.

A batch that outgrows its plans is cut back by vLLM's rule (engine/simulate/preempting.py);
nobody is admitted in that round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel
from engine.simulate.entrance import WAITS
from engine.simulate.preempting import Admission, make_room
from engine.simulate.profile import Profile, earliest_fit, first_after, insert, new_profile
from engine.simulate.server import (
    enter,
    need,
    rounds_to_completion,
    rounds_to_overflow,
    swap_in,
)
from engine.simulate.timetable import NEVER


class Outlook(NamedTuple):
    """What the batch will hold if everything goes as planned.

    Attributes
    ----------
    predicted : (n,) int64, output tokens
    tenths : by how many tenths of its generated tokens a request is expected to go on
    limit : tokens that admission may plan to fill, at most M; M on an empty server
    profile : the batch (engine/simulate/profile.py)
    first : (1,) int64, where the profile begins
    end : (n,) int64, the rounds that complete those in the profile, as planned
    recovery : who has to go when memory runs out
    """

    predicted: np.ndarray
    tenths: int
    limit: int
    profile: Profile
    first: np.ndarray
    end: np.ndarray
    recovery: Admission


def new_outlook(
    predicted: np.ndarray, memory: int, limit: int, recovery: Admission, tenths: int = 0
) -> Outlook:
    """The outlook of an empty server; `predicted` (n,) in order of arrival."""
    # Everyone in the batch holds a prompt and a token, two at least.
    groups = min(len(predicted), memory // 2) + 1
    first, end = np.full(1, groups), np.zeros(len(predicted), np.int64)
    return Outlook(predicted, tenths, limit, new_profile(groups), first, end, recovery)


@kernel
def planned_left(predicted, tenths, room, generated):
    """How many tokens a request is planned to generate from now on, at least 1.

    `room` is what memory leaves for its output.
    """
    planned = max(predicted, generated + generated * tenths // 10, generated + 1)
    return min(planned, room) - generated


@kernel
def _plan_in(outlook, i, holding, left, at, after):
    """Add a request to the profile; `after` is the first group that completes after it."""
    x, alive, slack = outlook.profile
    first = insert(x, alive, slack, outlook.first[0], outlook.limit, holding, left, at, after)
    outlook.first[0] = first
    outlook.end[i] = at + left


@kernel
def _goes_as_planned(server, outlook):
    """Whether the profile is of the batch, and as it would be planned now."""
    x, alive, _ = outlook.profile
    at, first = server.watch.now.round, outlook.first[0]
    while first < x.size and x[first] <= at:
        first += 1
    outlook.first[0] = first
    if server.now.running != (alive[first] if first < x.size else 0):
        return False  # someone completed before the plan, or was preempted
    of, batch, memory = server.of, server.batch, server.memory
    predicted, tenths, end = outlook.predicted, outlook.tenths, outlook.end
    for place in range(server.now.running):
        i = batch[place]
        r = of[i]
        left = planned_left(predicted[i], tenths, memory - r.prompt, r.gen + at - r.since)
        if end[i] != at + left:
            return False
    return True


@kernel
def look_out(server, outlook):
    """Plan the batch anew, if it does not go as planned."""
    if _goes_as_planned(server, outlook):
        return
    x, at = outlook.profile.x, server.watch.now.round
    outlook.first[0] = x.size
    for place in range(server.now.running):
        i = server.batch[place]
        r = server.of[i]
        generated, room = r.gen + at - r.since, server.memory - r.prompt
        left = planned_left(outlook.predicted[i], outlook.tenths, room, generated)
        after = first_after(x, outlook.first[0], at + left)
        _plan_in(outlook, i, r.prompt + generated, left, at, after)


@kernel
def admit_if_it_fits(server, outlook, i, swapped, transfer):
    """Admit request i if the plans allow it now; the first round at which they might."""
    x, alive, slack = outlook.profile
    at, first, limit = server.watch.now.round, outlook.first[0], outlook.limit
    r = server.of[i]
    holding, room = r.prompt + r.gen, server.memory - r.prompt
    left = planned_left(outlook.predicted[i], outlook.tenths, room, r.gen)
    start, after = NEVER, x.size
    # The batch alone may be planned to pass the limit: someone entered an empty server or has
    # outgrown a plan. Then nobody is admitted, not even one who would be gone by then.
    if holding + left <= limit and (first == x.size or slack[first:].min() >= 0):
        start, after = earliest_fit(x, alive, slack, first, limit, holding, left, at)
    if server.now.running == 0:
        start, after = at, x.size
    if start == at:
        _plan_in(outlook, i, holding, left, at, after)
        if swapped:
            swap_in(server, i, transfer)
        else:
            enter(server, i, True)
    return start


@kernel
def next_in_line(server, line, end):
    """The next of line[:end] that waits for its first admission; -1 if none does."""
    now = server.now
    while now.passed < end:
        i = line[now.passed]
        if server.entrance.status[i] == WAITS:
            return i
        now.passed += 1
    return -1


@kernel
def admit_along(server, outlook, line, end):
    """Admit those who were preempted, then along line[:end], until one does not fit.

    Returns the round at which that one might fit; NEVER if only a completion can help, or
    nobody waits.
    """
    now, queue, rule = server.now, server.queue, outlook.recovery
    while True:
        back = now.queued > 0
        i = queue[now.queued - 1] if back else next_in_line(server, line, end)
        if i < 0:
            return NEVER
        start = admit_if_it_fits(server, outlook, i, back and rule.swap, rule.transfer)
        if start > server.watch.now.round:
            return start
        now.queued -= back


@kernel
def recover(server, outlook):
    """Preempt until the next round fits; whether anyone was."""
    return need(server) > server.memory and make_room(server, outlook.recovery, server.memory)


@kernel
def rounds_to_change(server, start):
    """Rounds until the batch completes or outgrows something, or until round `start`."""
    rounds = min(rounds_to_completion(server), rounds_to_overflow(server, server.memory))
    return rounds if start == NEVER else min(rounds, start - server.watch.now.round)
