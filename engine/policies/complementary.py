"""Complementary pairing: long outputs with short prompts beside the reverse, with a light swap.

Someone with a short prompt and a long output holds little now and much later, someone with a
long prompt and a short output the other way round; run in pairs they share memory well.

Pairs are taken as long as both kinds wait. Medians change with who waits, so an arrival or a
start can change who is first: the kernel looks again in the next round after either. While
the same requests wait the same one is first, and the kernel jumps to when it might fit.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel
from engine.policies.vllm import TRANSFER, admission_limit
from engine.policy import Param, policy
from engine.simulate.median import Median, count_in, new_median, twice_the_median
from engine.simulate.outlook import (
    admit_along,
    admit_if_it_fits,
    look_out,
    new_outlook,
    recover,
    rounds_to_change,
)
from engine.simulate.preempting import NEWEST_DROPPED, SMALLEST
from engine.simulate.server import (
    advance,
    arrival_order,
    complete,
    has_room,
    see_arrivals,
    serve,
    wait_for_arrival,
)
from engine.simulate.timetable import NEVER
from engine.simulate.waiting import add_waiting, empty_waiting, next_waiting, remove_waiting

MARGIN = Param("margin", 0.1, 0.0, 0.9, "Share of M that plans leave free.")


class Waiting(NamedTuple):
    """Those not admitted yet.

    Attributes
    ----------
    ranks : who they are, by order of arrival (engine/simulate/waiting.py)
    prompt, output : the medians of their prompts and predicted outputs
    """

    ranks: np.ndarray
    prompt: Median
    output: Median


@kernel
def _join(waiting, i):
    add_waiting(waiting.ranks, i)
    count_in(waiting.prompt, i, 1)
    count_in(waiting.output, i, 1)


@kernel
def _try(server, outlook, waiting, i):
    """Admit request i if it fits; the first round at which it might."""
    start = admit_if_it_fits(server, outlook, i, False, 0.0)
    if start == server.watch.now.round:
        remove_waiting(waiting.ranks, i)
        count_in(waiting.prompt, i, -1)
        count_in(waiting.output, i, -1)
        server.now.started += 1
    return start


@kernel
def _oldest(server, outlook, waiting, split, long_output, at):
    """The oldest from `at` on with a long output and a short prompt, or the reverse; or -1."""
    i = next_waiting(waiting.ranks, at)
    while i >= 0:
        is_long = 2 * outlook.predicted[i] > split[1]
        if is_long == long_output and (2 * server.of[i].prompt > split[0]) != long_output:
            return i
        i = next_waiting(waiting.ranks, i + 1)
    return -1


@kernel
def _admit(server, outlook, waiting):
    """Walk those who wait; the first round at which one that did not fit might."""
    now = server.now
    members = now.arrived - now.started
    if members == 0:
        return NEVER
    split = (twice_the_median(waiting.prompt, members), twice_the_median(waiting.output, members))
    growing = _oldest(server, outlook, waiting, split, True, 0)
    shrinking = _oldest(server, outlook, waiting, split, False, 0)
    while growing >= 0 and shrinking >= 0:
        for i in (growing, shrinking):
            start = _try(server, outlook, waiting, i)
            if start > server.watch.now.round:
                return start
        growing = _oldest(server, outlook, waiting, split, True, growing)
        shrinking = _oldest(server, outlook, waiting, split, False, shrinking)
    i = next_waiting(waiting.ranks, 0)
    while i >= 0:
        start = _try(server, outlook, waiting, i)
        if start > server.watch.now.round:
            return start
        i = next_waiting(waiting.ranks, i)
    return NEVER


@kernel
def _complementary(server, outlook, waiting):
    now = server.now
    while has_room(server):
        complete(server)
        if now.finished == server.of.size:
            return
        before = now.arrived
        see_arrivals(server)
        if now.finished == now.arrived:
            wait_for_arrival(server)
        for i in range(before, now.arrived):
            _join(waiting, i)
        if recover(server, outlook):
            advance(server, 1, False)
            continue
        look_out(server, outlook)
        start = admit_along(server, outlook, waiting.prompt.rank, 0)  # those swapped out
        started = now.started
        if now.queued == 0:
            start = _admit(server, outlook, waiting)
        if now.started > started:
            start = server.watch.now.round + 1
        advance(server, rounds_to_change(server, start), now.queued == 0)


def complementary(workload, memory, predicted, margin, transfer, clock, progress):
    """Run under the rule above; `predicted` (n,) int64 are the outputs that are reckoned with."""
    order = arrival_order(workload)
    recovery = NEWEST_DROPPED._replace(victim=SMALLEST, swap=True, transfer=transfer)
    limit = admission_limit(memory, margin)
    outlook = new_outlook(predicted[order], memory, limit, recovery)
    medians = new_median(workload.prompt[order]), new_median(predicted[order])
    waiting = Waiting(empty_waiting(len(order)), *medians)
    rule = partial(_complementary, outlook=outlook, waiting=waiting)
    return serve(workload, memory, clock, rule, progress)


@policy(
    key="complementary",
    title="Complementary pairing",
    rule="Starts requests in pairs, the oldest with a short prompt and a long output and the "
    "oldest with the reverse, under look-ahead within (1 − margin) M.",
    source="engineering notes on arXiv 2502.07115, not in the paper itself",
    group="deployed",
    reconstructed=True,
    may_give_up_kv=True,
    params=(MARGIN, TRANSFER),
    cost=lambda n: 4e-6 * n + 2e-9 * n**2,
)
def simulate(workload, memory, clock, progress, margin, transfer):
    return complementary(workload, memory, workload.output, margin, transfer, clock, progress)
