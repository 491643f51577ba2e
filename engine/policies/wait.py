"""WAIT: requests of a type start in groups, as many as arrive in one round of the fluid limit.

Groups start in the order in which they were complete; within a group, and among groups of
the same round, requests start in order of arrival. Each starts as soon as look-ahead allows.
A group that waits for more is released when its oldest member has waited
`max_wait`, and all are when no more requests are due: then all of the type start.

Between arrivals a group can only change by its oldest member's wait, so the kernel jumps
to the next arrival, to the end of such a wait, or to the next change of the batch.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.decisions.account import Account
from engine.decisions.groups import released
from engine.decisions.plans import Plans, recovering
from engine.decisions.refusal import NoGroup
from engine.fluid import round_to_plan
from engine.policy import policy
from engine.policy_parameters import MARGIN, MAX_WAIT, Param
from engine.simulate.arrival_queue import (
    WAITS,
    all_arrived,
    arrival_order,
    count_quitters,
    has_changed,
    next_arrival,
    next_newcomer,
    next_to_give_up,
    quitter,
)
from engine.simulate.look_ahead_plan import (
    admit_along,
    new_look_ahead_plan,
    next_in_queue,
    recover,
    refresh_plan,
    rounds_to_change,
)
from engine.simulate.preempting import NEWEST_DROPPED, admission_limit
from engine.simulate.serve import serve
from engine.simulate.server import (
    advance,
    advance_until,
    next_decision,
)
from engine.simulate.timetable import wait_idle

THRESHOLD = Param(
    "threshold", 0, 0, 10**6, "How many requests of a type start together; 0: as the fluid has it."
)

SHORTEST = 1e-200  # of all arrivals, clock units: a float has no rate of fewer


class Groups(NamedTuple):
    """Types and their groups.

    Attributes
    ----------
    type_of : (n,) int64, each request's type, 0 .. types - 1
    members : (n,) int64, requests by (type, order of arrival)
    first : (types,) int64, where the members of each type begin
    size : (types,) int64, how many start together
    passed : (types,) int64, how many of the members have been released or have left before
    pending : (types,) int64, how many have come and wait for a group
    released : (n,) int64, those whose group is complete, in the order in which they start
    is_released : (n,) bool
    end : (1,) int64, how many have been released
    max_wait : clock units
    """

    type_of: np.ndarray
    members: np.ndarray
    first: np.ndarray
    size: np.ndarray
    passed: np.ndarray
    pending: np.ndarray
    released: np.ndarray
    is_released: np.ndarray
    end: np.ndarray
    max_wait: float


@part
def _update_pending(server, groups):
    """Those that have come wait for a group, and those who have given up do no longer."""
    arrival_queue = server.arrival_queue
    for k in range(count_quitters(arrival_queue)):
        i = quitter(arrival_queue, k)
        if not groups.is_released[i]:
            groups.pending[groups.type_of[i]] -= 1
    i = next_newcomer(arrival_queue, 0)
    while i >= 0:
        groups.pending[groups.type_of[i]] += 1
        i = next_newcomer(arrival_queue, i + 1)


@part
def _oldest(server, groups, kind):
    """The oldest of the type's pending requests, of which there must be one."""
    while True:
        i = groups.members[groups.first[kind] + groups.passed[kind]]
        if server.arrival_queue.status[i] == WAITS:
            return i
        groups.passed[kind] += 1


@part
def _due(server, groups, kind):
    """When the type's oldest pending request has waited long enough."""
    return server.arrival_queue.arrival[_oldest(server, groups, kind)] + groups.max_wait


@part
def _open_type(server, groups, kind):
    """Release a group of this type if it may start."""
    pending = groups.pending[kind]
    opens = groups.size[kind] if pending >= groups.size[kind] else 0
    seconds = server.round_clock.state.seconds
    if all_arrived(server.arrival_queue) or seconds >= _due(server, groups, kind):
        opens = pending
    for _ in range(opens):
        i = _oldest(server, groups, kind)
        groups.released[groups.end[0]] = i
        groups.is_released[i] = True
        groups.end[0] += 1
        groups.passed[kind] += 1
    groups.pending[kind] -= opens


@part
def _open_groups(server, groups):
    """Release complete groups.

    Returns
    -------
    again : whether another group is complete, for the next round
    moment : when the next wait ends
    """
    before, again, moment = groups.end[0], False, np.inf
    for kind in range(groups.size.size):
        if groups.pending[kind] > 0:
            _open_type(server, groups, kind)
        if groups.pending[kind] > 0:
            moment = min(moment, _due(server, groups, kind))
            again = again or groups.pending[kind] >= groups.size[kind]
    if groups.end[0] > before + 1:
        groups.released[before : groups.end[0]].sort()
    return again, moment


@kernel
def _wait(server, plan, groups):
    state = server.state
    while next_decision(server):
        if has_changed(server.arrival_queue):
            _update_pending(server, groups)
        again, moment = _open_groups(server, groups)
        moment = min(moment, next_arrival(server.arrival_queue))
        end = groups.end[0]
        is_empty = state.running == 0 and state.queued == 0
        if is_empty and next_in_queue(server, groups.released, end) < 0:
            wait_idle(server.round_clock, min(moment, next_to_give_up(server.arrival_queue)))
            continue
        if recover(server, plan):
            advance(server, 1, False)
            continue
        refresh_plan(server, plan)
        start = admit_along(server, plan, groups.released, end)
        advance_until(server, 1 if again else rounds_to_change(server, start), moment)


def types_of(workload):
    """(n,) int64: the class, or, if there is only one, long or short by prompt and by output."""
    if len(workload.classes) > 1:
        return workload.class_of
    long_prompt = workload.prompt > np.median(workload.prompt)
    long_output = workload.output > np.median(workload.output)
    return 2 * long_prompt.astype(np.int64) + long_output


def thresholds(workload, types, memory, clock):
    """(types,) int64: how many of each type arrive in one round of the fluid, at least 1.

    Where there is no rate, as good as a backlog or in a closed loop, 1.
    """
    span = np.ptp(workload.arrival)
    if span < SHORTEST or workload.concurrency:
        return np.ones(types.max() + 1, np.int64)
    in_a_round = np.bincount(types) / span * round_to_plan(workload, memory, clock)
    # The factor keeps 5 a round, computed as 5.0000000001, from being called 6.
    return np.maximum(1, np.ceil(in_a_round * (1 - 1e-9))).astype(np.int64)


class GroupRule(NamedTuple):
    """Who starts together.

    Attributes
    ----------
    types : (n,) int64, each request's type
    sizes : (types,) int64, how many of each type start together
    max_wait : clock units after which a request waits for no group
    limit : tokens that admission may plan to fill, at most M; M on an empty server
    """

    types: np.ndarray
    sizes: np.ndarray
    max_wait: float
    limit: int


def group_rule(workload, memory, clock, params):
    """The rule with these parameters; the predicted outputs are those of `workload`."""
    types = types_of(workload)
    sizes = thresholds(workload, types, memory, clock)
    if params["threshold"]:
        sizes = np.full_like(sizes, params["threshold"])
    return GroupRule(types, sizes, params["max_wait"], admission_limit(memory, params["margin"]))


def account(decision):
    """Those preempted, then groups as they were released, under look-ahead."""
    expected = decision.workload.believing(decision.workload.expected, decision.memory)
    rule = group_rule(expected, decision.memory, decision.clock, decision.params)
    groups = released(decision, rule.types, rule.sizes, rule.max_wait)
    returning, others = decision.returning_first(groups.at)
    plans = Plans(decision, expected.output, rule.limit)

    def no_group(i):
        pending = groups.pending[rule.types[i]]
        if i not in pending:
            return None
        due = float(decision.workload.arrival[pending[0]] + rule.max_wait)
        return NoGroup(len(pending), int(rule.sizes[rule.types[i]]), due)

    queue = np.append(returning, others[groups.at[others] <= decision.at])
    return Account(queue, plans.refuse, closed=recovering(decision), apart=no_group)


def wait(workload, memory, predicted, rule, clock, progress):
    """Run under the rule above; `predicted` (n,) int64 are the outputs that are reckoned with."""
    order = arrival_order(workload)
    type_of, types = rule.types[order], len(rule.sizes)
    count = np.bincount(type_of, minlength=types)
    groups = Groups(
        type_of=type_of,
        members=np.argsort(type_of, kind="stable"),
        first=np.cumsum(count) - count,
        size=rule.sizes,
        passed=np.zeros(types, np.int64),
        pending=np.zeros(types, np.int64),
        released=np.empty(len(order), np.int64),
        is_released=np.zeros(len(order), bool),
        end=np.zeros(1, np.int64),
        max_wait=rule.max_wait,
    )
    plan = new_look_ahead_plan(predicted[order], memory, rule.limit, NEWEST_DROPPED)
    return serve(
        workload,
        memory,
        clock,
        partial(_wait, plan=plan, groups=groups),
        progress,
    )


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
    account=account,
    cost=lambda n: 1e-5 * n,
)
def simulate(workload, memory, clock, progress, **params):
    expected = workload.believing(workload.expected, memory)
    rule = group_rule(expected, memory, clock, params)
    return wait(workload, memory, expected.output, rule, clock, progress)
