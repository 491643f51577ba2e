"""WAIT: requests of a type start in groups, as many as arrive in one round of the fluid limit.

Groups stand in line in the order in which they were complete; within a group, and among
groups of the same round, requests stand in order of arrival. Each starts as soon as
look-ahead allows. A group that waits for more is opened when its oldest member has waited
`max_wait`, and all are when no more requests are due: then all of the type start.

Between arrivals a group can only change by its oldest member's wait, so the kernel jumps
to the next arrival, to the end of such a wait, or to the next change of the batch.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel
from engine.fluid import round_to_plan
from engine.policy import MARGIN, Param, policy
from engine.simulate.outlook import admit_along, look_out, new_outlook, recover, rounds_to_change
from engine.simulate.preempting import NEWEST_DROPPED, admission_limit
from engine.simulate.server import (
    advance,
    advance_until,
    arrival_order,
    next_arrival,
    next_decision,
    see_arrivals,
    serve,
)
from engine.simulate.timetable import wait_idle

THRESHOLD = Param(
    "threshold", 0, 0, 10**6, "How many requests of a type start together; 0: as the fluid has it."
)
MAX_WAIT = Param(
    "max_wait", 30.0, 0.0, 1e9, "Time in clock units after which a request waits for no group."
)


class Groups(NamedTuple):
    """Types and their groups.

    Attributes
    ----------
    type_of : (n,) int64, each request's type, 0 .. types - 1
    members : (n,) int64, requests by (type, order of arrival)
    first : (types,) int64, where the members of each type begin
    size : (types,) int64, how many start together
    came, opened : (types,) int64, how many have arrived, and how many of these stand in line
    line : (n,) int64, those who may start, in order
    max_wait : clock units
    """

    type_of: np.ndarray
    members: np.ndarray
    first: np.ndarray
    size: np.ndarray
    came: np.ndarray
    opened: np.ndarray
    line: np.ndarray
    max_wait: float


@kernel
def _open_type(server, groups, kind, end):
    """Let a group of this type stand in line if it may; where the line ends then."""
    pending = groups.came[kind] - groups.opened[kind]
    if pending == 0:
        return end
    head = groups.first[kind] + groups.opened[kind]
    oldest = server.of[groups.members[head]].arrival
    none_due = server.now.arrived == server.of.size
    opens = 0
    if none_due or server.watch.now.seconds >= oldest + groups.max_wait:
        opens = pending
    elif pending >= groups.size[kind]:
        opens = groups.size[kind]
    for k in range(opens):
        groups.line[end + k] = groups.members[head + k]
    groups.opened[kind] += opens
    return end + opens


@kernel
def _open_groups(server, groups):
    """Let complete groups stand in line.

    Returns
    -------
    end : where the line ends
    again : whether another group is complete, for the next round
    moment : when the next wait ends
    """
    before = groups.opened.sum()
    end, again, moment = before, False, np.inf
    for kind in range(groups.size.size):
        end = _open_type(server, groups, kind, end)
        pending = groups.came[kind] - groups.opened[kind]
        if pending > 0:
            oldest = groups.members[groups.first[kind] + groups.opened[kind]]
            moment = min(moment, server.of[oldest].arrival + groups.max_wait)
            again = again or pending >= groups.size[kind]
    if end > before + 1:
        groups.line[before:end].sort()
    return end, again, moment


@kernel
def _wait(server, outlook, groups):
    now = server.now
    while next_decision(server):
        before = now.arrived
        see_arrivals(server)
        for i in range(before, now.arrived):
            groups.came[groups.type_of[i]] += 1
        end, again, moment = _open_groups(server, groups)
        moment = min(moment, next_arrival(server))
        if now.running == 0 and now.queued == 0 and now.started == end:
            wait_idle(server.watch, moment)
            continue
        if recover(server, outlook):
            advance(server, 1, False)
            continue
        look_out(server, outlook)
        start = admit_along(server, outlook, groups.line, end)
        advance_until(server, 1 if again else rounds_to_change(server, start), moment)


def types_of(workload):
    """(n,) int64: the class, or, if there is only one, halves by prompt and by output."""
    if len(workload.classes) > 1:
        return workload.class_of
    long_prompt = workload.prompt > np.median(workload.prompt)
    long_output = workload.output > np.median(workload.output)
    return 2 * long_prompt.astype(np.int64) + long_output


def thresholds(workload, types, memory, clock):
    """(types,) int64: how many of each type arrive in one round of the fluid, at least 1.

    Where there is no rate, in a backlog and in a closed loop, 1.
    """
    span = np.ptp(workload.arrival)
    if span == 0 or workload.concurrency:
        return np.ones(types.max() + 1, np.int64)
    in_a_round = np.bincount(types) / span * round_to_plan(workload, memory, clock)
    # The factor keeps 5 a round, computed as 5.0000000001, from being called 6.
    return np.maximum(1, np.ceil(in_a_round * (1 - 1e-9))).astype(np.int64)


def wait(workload, memory, predicted, types, sizes, max_wait, limit, clock, progress):
    """Run under the rule above.

    Parameters
    ----------
    predicted : (n,) int64, the outputs that are reckoned with
    types : (n,) int64, each request's type
    sizes : (types,) int64, how many of each type start together
    limit : tokens that admission may plan to fill, at most M; M on an empty server
    """
    order = arrival_order(workload)
    type_of = types[order]
    count = np.bincount(type_of, minlength=len(sizes))
    groups = Groups(
        type_of=type_of,
        members=np.argsort(type_of, kind="stable"),
        first=np.cumsum(count) - count,
        size=sizes,
        came=np.zeros(len(sizes), np.int64),
        opened=np.zeros(len(sizes), np.int64),
        line=np.empty(len(order), np.int64),
        max_wait=max_wait,
    )
    outlook = new_outlook(predicted[order], memory, limit, NEWEST_DROPPED)
    return serve(workload, memory, clock, partial(_wait, outlook=outlook, groups=groups), progress)


@policy(
    key="wait",
    title="WAIT",
    rule="Starts the requests of a type in groups, as many as arrive in a round of the fluid "
    "limit, each under look-ahead; nobody waits for a group longer than max_wait.",
    source="arXiv 2504.11320, section 4 and its authors' code; look-ahead and max_wait are ours",
    group="provable",
    may_give_up_kv=True,
    waits_for_more=True,
    params=(THRESHOLD, MAX_WAIT, MARGIN),
    cost=lambda n: 1e-5 * n,
)
def simulate(workload, memory, clock, progress, threshold, max_wait, margin):
    expected = workload.believing(workload.expected, memory)
    types = types_of(expected)
    sizes = thresholds(expected, types, memory, clock)
    if threshold:
        sizes = np.full_like(sizes, threshold)
    rule = (types, sizes, max_wait, admission_limit(memory, margin))
    return wait(workload, memory, expected.output, *rule, clock, progress)
