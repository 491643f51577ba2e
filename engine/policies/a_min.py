"""A_min: shortest output first by lower bounds that are raised as they turn out too low.

Admission follows an eviction in the same round. Who is first in the queue changes only with an
eviction, an admission or an arrival, so the kernel jumps to the next of these, to a completion,
or to the round at which that one might fit (engine/simulate/look_ahead_plan.py). That it
always ends is shown in engine/simulate/starting_over.py.
"""

from functools import partial

from engine.compiled import kernel, part
from engine.decisions.account import Account
from engine.decisions.bounds import raised_bounds
from engine.decisions.plans import Plans, limit_of
from engine.policy import policy
from engine.policy_parameters import MARGIN
from engine.simulate.arrival_queue import arrival_order
from engine.simulate.look_ahead_plan import (
    admit_if_it_fits,
    new_look_ahead_plan,
    refresh_plan,
    rounds_to_change,
)
from engine.simulate.preempting import NEWEST_DROPPED, admission_limit
from engine.simulate.priority_queue import dequeue, enqueue, enqueue_arrivals, new_priority_queue
from engine.simulate.serve import serve
from engine.simulate.server import advance, need, next_decision
from engine.simulate.starting_over import start_over
from engine.simulate.timetable import NEVER


@part
def _admit(server, plan, priority_queue):
    """Admit in order of the bounds; the round at which the first that does not fit might."""
    while server.state.queued > 0:
        start = admit_if_it_fits(server, plan, server.queue[0], False, 0.0)
        if start > server.round_clock.state.round:
            return start
        dequeue(server, priority_queue)
    return NEVER


@kernel
def _a_min(server, plan, priority_queue):
    while next_decision(server):
        enqueue_arrivals(server, priority_queue)
        while need(server) > server.memory:
            i = start_over(server, plan.predicted)
            priority_queue.key[i] = plan.predicted[i]
            enqueue(server, priority_queue, i)
        refresh_plan(server, plan)
        start = _admit(server, plan, priority_queue)
        advance(server, rounds_to_change(server, start), True)


def a_min(workload, memory, lo, limit, clock, progress):
    """Run under the rule above.

    Parameters
    ----------
    lo : (n,) int64, lower bounds of the outputs, right or wrong
    limit : tokens that admission may plan to fill, at most M; M on an empty server
    """
    lo = lo[arrival_order(workload)]
    plan = new_look_ahead_plan(lo, memory, limit, NEWEST_DROPPED)
    rule = partial(_a_min, plan=plan, priority_queue=new_priority_queue(lo))
    return serve(workload, memory, clock, rule, progress)


def account(decision):
    """The shortest by the bounds raised by then, under look-ahead, also after an eviction."""
    lo = raised_bounds(decision)
    queue = decision.ascending(decision.candidates, lo)
    return Account(queue, Plans(decision, lo, limit_of(decision)).refuse)


@policy(
    key="a-min",
    title="A-min (adaptive)",
    rule="Shortest output first under look-ahead, with the lower end of each predicted interval "
    "for its output; when memory runs out, those with the lowest start over and what they had "
    "generated becomes their lower end.",
    source="arXiv 2508.14544, A_min, reconstructed from summaries",
    group="provable",
    reconstructed=True,
    params=(MARGIN,),
    account=account,
    cost=lambda n: 4e-6 * n,
)
def simulate(workload, memory, clock, progress, margin):
    seen = workload.believing(workload.at_least, memory)
    return a_min(workload, memory, seen.output, admission_limit(memory, margin), clock, progress)
