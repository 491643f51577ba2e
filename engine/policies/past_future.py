"""Past-Future: first come first served under look-ahead, with outputs planned from the past."""

from functools import partial

import numpy as np

from engine.compiled import kernel
from engine.decisions.plans import Plans, in_order_of_arrival, limit_of
from engine.policy import policy
from engine.policy_parameters import MARGIN
from engine.simulate.arrival_queue import arrival_order
from engine.simulate.look_ahead_plan import (
    admit_along,
    new_look_ahead_plan,
    recover,
    refresh_plan,
    rounds_to_change,
)
from engine.simulate.preempting import NEWEST_DROPPED, admission_limit
from engine.simulate.serve import serve
from engine.simulate.server import (
    advance,
    next_decision,
)

FREE = MARGIN.starting_at(0.05, "Share of M that plans leave free.")
ONE_TENTH_MORE = 1


@kernel
def _past_future(server, plan, candidates):
    counts = server.arrival_queue.counts
    while next_decision(server):
        if recover(server, plan):
            advance(server, 1, False)
            continue
        refresh_plan(server, plan)
        start = admit_along(server, plan, candidates, counts.arrived)
        nobody_waits = server.state.queued == 0 and counts.waiting == 0
        advance(server, rounds_to_change(server, start), nobody_waits)


def past_future(workload, memory, predicted, margin, clock, progress):
    """Run under the rule above; `predicted` (n,) int64 are the outputs that are reckoned with."""
    predicted = predicted[arrival_order(workload)]
    limit = admission_limit(memory, margin)
    plan = new_look_ahead_plan(predicted, memory, limit, NEWEST_DROPPED, ONE_TENTH_MORE)
    candidates = np.arange(len(workload))
    return serve(
        workload,
        memory,
        clock,
        partial(_past_future, plan=plan, candidates=candidates),
        progress,
    )


def account(decision):
    """Those preempted first, then in order of arrival, under look-ahead."""
    expected = decision.workload.believing(decision.workload.expected, decision.memory).output
    plans = Plans(decision, expected, limit_of(decision), ONE_TENTH_MORE)
    return in_order_of_arrival(decision, plans)


@policy(
    key="past-future",
    title="Past-Future",
    rule="Admits in order of arrival if memory never passes (1 − margin) M when everyone "
    "completes as predicted; who has nearly reached the prediction is given a tenth more.",
    source="arXiv 2507.10150, LightLLM's router",
    group="deployed",
    may_give_up_kv=True,
    params=(FREE,),
    account=account,
    cost=lambda n: 6e-6 * n,
)
def simulate(workload, memory, clock, progress, margin):
    expected = workload.believing(workload.expected, memory)
    return past_future(workload, memory, expected.output, margin, clock, progress)
