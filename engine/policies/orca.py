"""Orca: iteration-level batching that reserves the longest output for everyone.

A reservation covers what its request will ever hold, so memory never runs out. What is
reserved changes only when a request completes or is admitted: the kernel jumps from
completion to completion, or to the next arrival when nobody waits.
"""

from functools import partial

import numpy as np

from engine.compiled import kernel, part
from engine.decisions.account import Account
from engine.decisions.refusal import OverReserve
from engine.policy import policy
from engine.policy_parameters import Param
from engine.simulate.arrival_queue import first_waiting
from engine.simulate.serve import serve
from engine.simulate.server import (
    admit,
    advance,
    next_decision,
    rounds_to_completion,
)

MAX_OUTPUT = Param(
    "max_output",
    0,
    0,
    10**9,
    "Tokens reserved for each output; at least the workload's longest, which 0 stands for.",
)


@part
def _reserve(server, i, longest):
    return min(server.of[i].prompt + longest, server.memory)


@kernel
def _orca(server, longest):
    state = server.state
    while next_decision(server):
        reserved = 0
        for place in range(state.running):
            reserved += _reserve(server, server.batch[place], longest)
        i = first_waiting(server.arrival_queue)
        while i >= 0:
            reserved += _reserve(server, i, longest)
            if reserved > server.memory:
                break
            admit(server, i, True)
            i = first_waiting(server.arrival_queue)
        advance(server, rounds_to_completion(server), i < 0)


def account(decision):
    """In order of arrival, each with its reservation."""
    longest = decision.params["max_output"]
    reserved = np.minimum(decision.workload.prompt + longest, decision.memory)

    def refuse(i, batch):
        used, more = int(reserved[batch].sum()), int(reserved[i])
        over = used + more - decision.memory
        return OverReserve(used, more, over) if over > 0 else None

    return Account(decision.ascending(decision.candidates, decision.turn), refuse)


def longest_output(workload, params):
    """The parameters with the output that is reserved for everyone."""
    return {**params, "max_output": max(params["max_output"], int(workload.output.max()))}


@policy(
    key="orca",
    title="Orca",
    rule="Admits in order of arrival; each request reserves its prompt and the longest output "
    "there can be, at most M.",
    source="Orca (OSDI 2022), as in Vidur's scheduler",
    group="deployed",
    uses_lengths=False,
    params=(MAX_OUTPUT,),
    cost=lambda n: 3e-7 * n,
    settle_params=longest_output,
    account=account,
)
def simulate(workload, memory, clock, progress, max_output):
    return serve(workload, memory, clock, partial(_orca, longest=max_output), progress)
