"""Complementary pairing: long outputs with short prompts beside the reverse, with a light swap.

Someone with a short prompt and a long output holds little now and much later, someone with a
long prompt and a short output the other way round; run in pairs they share memory well.

Pairs are taken as long as both kinds wait. Medians change with who waits, so an arrival, a
start or one who gives up can change who is first: the kernel looks again in the round after. While
the same requests wait the same one is first, and the kernel jumps to when it might fit.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.decisions.account import Account
from engine.decisions.plans import Plans, limit_of, recovering
from engine.policy import policy
from engine.policy_parameters import MARGIN, TRANSFER
from engine.simulate.arrival_queue import (
    arrival_order,
    count_quitters,
    has_changed,
    next_newcomer,
    quitter,
)
from engine.simulate.look_ahead_plan import (
    admit_along,
    admit_if_it_fits,
    new_look_ahead_plan,
    recover,
    refresh_plan,
    rounds_to_change,
)
from engine.simulate.preempting import NEWEST_DROPPED, SMALLEST, admission_limit
from engine.simulate.running_median import (
    RunningMedian,
    join_median,
    leave_median,
    move_cut,
    new_running_median,
)
from engine.simulate.serve import serve
from engine.simulate.server import (
    advance,
    next_decision,
)
from engine.simulate.timetable import NEVER
from engine.simulate.waiting import add_waiting, empty_waiting, next_waiting, remove_waiting

FREE = MARGIN.starting_at(0.1, "Share of M that plans leave free.")


class Waiting(NamedTuple):
    """Those not admitted yet; sets of requests by order of arrival (engine/simulate/waiting.py).

    Attributes
    ----------
    everyone : all of them
    growing : of these, the short prompts with long outputs
    shrinking : the long prompts with short outputs
    prompt, output : all of them, cut at the median prompt and at the median predicted output
    """

    everyone: np.ndarray
    growing: np.ndarray
    shrinking: np.ndarray
    prompt: RunningMedian
    output: RunningMedian


@part
def _sort_in(waiting, i):
    remove_waiting(waiting.growing, i)
    remove_waiting(waiting.shrinking, i)
    long_prompt, long_output = waiting.prompt.high[i], waiting.output.high[i]
    if long_output and not long_prompt:
        add_waiting(waiting.growing, i)
    elif long_prompt and not long_output:
        add_waiting(waiting.shrinking, i)


@part
def _join(waiting, i):
    add_waiting(waiting.everyone, i)
    join_median(waiting.prompt, i)
    join_median(waiting.output, i)
    _sort_in(waiting, i)


@part
def _leave(waiting, i):
    remove_waiting(waiting.everyone, i)
    remove_waiting(waiting.growing, i)
    remove_waiting(waiting.shrinking, i)
    leave_median(waiting.prompt, i)
    leave_median(waiting.output, i)


@part
def _update_waiting(server, waiting):
    """Those that have come wait, and those who have given up do no longer."""
    arrival_queue = server.arrival_queue
    for k in range(count_quitters(arrival_queue)):
        _leave(waiting, quitter(arrival_queue, k))
    i = next_newcomer(arrival_queue, 0)
    while i >= 0:
        _join(waiting, i)
        i = next_newcomer(arrival_queue, i + 1)


@part
def _cut(waiting, running_median, members):
    """Move the cut to the median and sort in anew those whom it passed."""
    first, last = move_cut(running_median, members)
    rank = next_waiting(running_median.members, first)
    while 0 <= rank < last:
        i = running_median.order[rank]
        running_median.high[i] = rank >= running_median.cut[0]
        _sort_in(waiting, i)
        rank = next_waiting(running_median.members, rank + 1)


@part
def _try(server, plan, waiting, i):
    """Admit request i if it fits; the first round at which it might."""
    start = admit_if_it_fits(server, plan, i, False, 0.0)
    if start == server.round_clock.state.round:
        _leave(waiting, i)
    return start


@part
def _admit(server, plan, waiting):
    """Walk those who wait; the first round at which one that did not fit might."""
    members = server.arrival_queue.counts.waiting
    if members == 0:
        return NEVER
    _cut(waiting, waiting.prompt, members)
    _cut(waiting, waiting.output, members)
    growing, shrinking = next_waiting(waiting.growing, 0), next_waiting(waiting.shrinking, 0)
    while growing >= 0 and shrinking >= 0:
        for i in (growing, shrinking):
            start = _try(server, plan, waiting, i)
            if start > server.round_clock.state.round:
                return start
        growing = next_waiting(waiting.growing, growing)
        shrinking = next_waiting(waiting.shrinking, shrinking)
    i = next_waiting(waiting.everyone, 0)
    while i >= 0:
        start = _try(server, plan, waiting, i)
        if start > server.round_clock.state.round:
            return start
        i = next_waiting(waiting.everyone, i)
    return NEVER


@kernel
def _complementary(server, plan, waiting):
    state = server.state
    while next_decision(server):
        if has_changed(server.arrival_queue):
            _update_waiting(server, waiting)
        if recover(server, plan):
            advance(server, 1, False)
            continue
        refresh_plan(server, plan)
        start = admit_along(server, plan, waiting.prompt.rank, 0)  # those swapped out
        waited = server.arrival_queue.counts.waiting
        if state.queued == 0:
            start = _admit(server, plan, waiting)
        if server.arrival_queue.counts.waiting < waited:
            start = server.round_clock.state.round + 1
        advance(server, rounds_to_change(server, start), state.queued == 0)


def complementary(workload, memory, predicted, margin, transfer, clock, progress):
    """Run under the rule above; `predicted` (n,) int64 are the outputs that are reckoned with."""
    order = arrival_order(workload)
    recovery = NEWEST_DROPPED._replace(victim=SMALLEST, swap=True, transfer=transfer)
    limit = admission_limit(memory, margin)
    plan = new_look_ahead_plan(predicted[order], memory, limit, recovery)
    waiting = Waiting(
        everyone=empty_waiting(len(order)),
        growing=empty_waiting(len(order)),
        shrinking=empty_waiting(len(order)),
        prompt=new_running_median(workload.prompt[order]),
        output=new_running_median(predicted[order]),
    )
    rule = partial(_complementary, plan=plan, waiting=waiting)
    return serve(workload, memory, clock, rule, progress)


def _in_pairs(who, prompt, output):
    """Pairs of those who grow and those who shrink, by the medians of all, then the others.

    Parameters
    ----------
    who, prompt, output : (m,) int64, in order of arrival
    """
    long_prompt, long_output = prompt > np.median(prompt), output > np.median(output)
    growing, shrinking = who[~long_prompt & long_output], who[long_prompt & ~long_output]
    pairs = min(len(growing), len(shrinking))
    paired = np.stack([growing[:pairs], shrinking[:pairs]], axis=1).ravel()
    return np.append(paired, who[~np.isin(who, paired)])


def account(decision):
    """Those swapped out, and once they are back the others in pairs, under look-ahead."""
    expected = decision.workload.believing(decision.workload.expected, decision.memory).output
    swapped, others = decision.returning_first(decision.turn)
    plans = Plans(decision, expected, limit_of(decision))
    all_back = np.isin(swapped, decision.joined).all()
    if all_back and len(others):
        others = _in_pairs(others, decision.workload.prompt[others], expected[others])
    queue = np.append(swapped, others) if all_back else swapped
    return Account(queue, plans.refuse, closed=recovering(decision))


@policy(
    key="complementary",
    title="Complementary pairing",
    rule="Starts requests in pairs, the oldest with a short prompt and a long output and the "
    "oldest with the reverse, under look-ahead within (1 − margin) M.",
    source="engineering notes on arXiv 2502.07115, not in the paper itself",
    group="deployed",
    reconstructed=True,
    may_give_up_kv=True,
    params=(FREE, TRANSFER),
    account=account,
    swaps=lambda params: True,
    cost=lambda n: 1.2e-5 * n,
)
def simulate(workload, memory, clock, progress, margin, transfer):
    expected = workload.believing(workload.expected, memory)
    return complementary(workload, memory, expected.output, margin, transfer, clock, progress)
