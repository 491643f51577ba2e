"""Plans made anew as requests come and go, where outputs are only predicted.

The rule of engine/simulate/replanning.py on the plans of engine/simulate/look_ahead_plan.py. Where
memory runs out, one of two recoveries acts:

- vLLM's: the newest are preempted, nobody is admitted in that round, and those preempted
  return before any plan;
- starting over (engine/simulate/starting_over.py): those evicted wait like the others, the
  plan is dropped, and admission follows in the same round.

The kernel runs until it needs a plan. Then it stops within a decision, with `asks` set, and
goes on there when it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.arrival_queue import (
    arrival_order,
    count_quitters,
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
from engine.simulate.preempting import NEWEST_DROPPED
from engine.simulate.schedule import Schedule
from engine.simulate.serve import serve
from engine.simulate.server import Server, advance, need, next_decision
from engine.simulate.starting_over import start_over
from engine.simulate.timetable import NEVER
from engine.workload import Workload

QUEUE_PLAN_STATE = np.dtype(
    [
        ("next", "i8"),  # which of `who` starts next
        ("size", "i8"),  # how many the plan holds
        ("admitted", "i8"),  # how many have been admitted since it was made
        ("waiting", "i8"),  # how many wait to be planned
        ("asks", "i8"),  # whether a plan is asked for
    ]
)

Batch = Callable[[np.ndarray, np.ndarray], np.ndarray]


class QueuePlan(NamedTuple):
    """Who starts next.

    Attributes
    ----------
    who : (n,) int64, the planned requests in order
    waits : (n,) bool, who waits to be planned
    state : record of dtype QUEUE_PLAN_STATE
    starts_over : the recovery
    """

    who: np.ndarray
    waits: np.ndarray
    state: np.void
    starts_over: bool


@part
def _forget(queue_plan):
    queue_plan.state.next = queue_plan.state.size


@part
def _wait(queue_plan, i):
    queue_plan.waits[i] = True
    queue_plan.state.waiting += 1


@part
def _update_waiting(server, queue_plan):
    """Those that have come wait, and those who have given up do no longer."""
    arrival_queue = server.arrival_queue
    for k in range(count_quitters(arrival_queue)):
        i = quitter(arrival_queue, k)
        queue_plan.waits[i] = False
        queue_plan.state.waiting -= 1
        _forget(queue_plan)
    i = next_newcomer(arrival_queue, 0)
    while i >= 0:
        _wait(queue_plan, i)
        _forget(queue_plan)
        i = next_newcomer(arrival_queue, i + 1)


@part
def _begin(server, plan, queue_plan):
    """Learn who has come and given up, and make room; whether anybody may be admitted now."""
    _update_waiting(server, queue_plan)
    if not queue_plan.starts_over:
        return not recover(server, plan)
    while need(server) > server.memory:
        _wait(queue_plan, start_over(server, plan.predicted))
        _forget(queue_plan)
    return True


@part
def _admit(server, plan, queue_plan):
    """Admit along the plan; the round at which its next request might fit.

    Sets `asks` where it needs another plan.
    """
    at, state = server.round_clock.state.round, queue_plan.state
    start = admit_along(server, plan, queue_plan.who, 0)  # those preempted
    if server.state.queued > 0:
        return start
    while state.waiting > 0:
        if state.next == state.size:
            state.asks = 1
            return at
        i = queue_plan.who[state.next]
        start = admit_if_it_fits(server, plan, i, False, 0.0)
        if start == at:
            state.next += 1
            state.admitted += 1
            state.waiting -= 1
            queue_plan.waits[i] = False
        elif state.admitted > 0:
            _forget(queue_plan)
        else:
            return start
    return NEVER


@kernel
def _along_plans(server, plan, queue_plan):
    while queue_plan.state.asks or next_decision(server):
        if not queue_plan.state.asks:
            if not _begin(server, plan, queue_plan):
                advance(server, 1, False)
                continue
            refresh_plan(server, plan)
        queue_plan.state.asks = 0
        start = _admit(server, plan, queue_plan)
        if queue_plan.state.asks:
            return
        advance(server, rounds_to_change(server, start), True)


def _take(queue_plan: QueuePlan, chosen: np.ndarray) -> None:
    """The plan is now to start these."""
    queue_plan.who[: len(chosen)] = chosen
    for name, value in (("next", 0), ("size", len(chosen)), ("admitted", 0)):
        queue_plan.state[name] = value


class PlanningRule(NamedTuple):
    """How plans are made.

    Attributes
    ----------
    predicted : (n,) int64, the outputs that are reckoned with, at most M - s
    batch : from the (m,) waiting requests, as indices in order of (arrival, row), and the
        (n,) outputs that are reckoned with by now, those to start next, in order
    starts_over : whether those evicted start over, with their outputs raised
    limit : tokens that admission may plan to fill, at most M; M on an empty server
    """

    predicted: np.ndarray
    batch: Batch
    starts_over: bool
    limit: int


def replanning_on_predictions(
    workload: Workload, memory: int, rule: PlanningRule, clock: Clock, progress: Progress
) -> Schedule:
    """Run requests that each fit in `memory` under the rule above."""
    n = len(workload)
    predicted = rule.predicted[arrival_order(workload)]
    plan = new_look_ahead_plan(predicted, memory, rule.limit, NEWEST_DROPPED)
    state = np.zeros(1, QUEUE_PLAN_STATE)[0]
    queue_plan = QueuePlan(np.empty(n, np.int64), np.zeros(n, bool), state, rule.starts_over)

    def go_on(server: Server) -> None:
        _along_plans(server, plan, queue_plan)
        while queue_plan.state["asks"]:
            _take(queue_plan, rule.batch(np.flatnonzero(queue_plan.waits), plan.predicted))
            progress(float(server.state["finished"]) / n)
            _along_plans(server, plan, queue_plan)

    return serve(workload, memory, clock, go_on, progress)
