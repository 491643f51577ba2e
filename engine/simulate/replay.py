"""Schedules that are planned beforehand, in rounds, and what the clock makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from engine.admission_limits import NO_LIMITS
from engine.errors import InputError
from engine.machine.clock import Clock
from engine.simulate.look_ahead import look_ahead
from engine.simulate.predicted_lengths import in_order
from engine.simulate.schedule import Schedule, Walk
from engine.simulate.timetable import Timetable, lasting
from engine.workload import Workload


def replay(workload: Workload, memory: int, start: np.ndarray, clock: Clock) -> Schedule:
    """The run in which each request starts at the round given for it.

    Parameters
    ----------
    workload : a backlog in the seconds clock, where rounds follow one another at once
    start : (n,) int64, a feasible schedule
    """
    finish = start + workload.output
    if clock.is_rounds:
        return Schedule(workload, memory, start, finish)
    changes = np.unique(np.concatenate([start, start + 1, finish]))

    def summed(at, values):
        """The sum of `values` that came `at` or before each change, without the last one."""
        total = np.bincount(np.searchsorted(changes, at), values, len(changes))
        return total.cumsum()[:-1]

    prefilled = np.bincount(np.searchsorted(changes, start), workload.prompt, len(changes))[:-1]
    # From its second round on a request decodes; before round t + 1 it holds s + t - start.
    decoding = summed(start + 1, np.ones(len(start))) - summed(finish, np.ones(len(start)))
    offset = workload.prompt - start
    context = summed(start + 1, offset) - summed(finish, offset) + decoding * changes[:-1]
    # A request of one token completes before it decodes: its two changes cancel in both sums.
    length = clock.step(prefilled, decoding, context)
    growth = clock.step.c2 * decoding
    begin = np.zeros(len(length))
    begin[1:] = lasting.py_func(np.diff(changes), length, growth).cumsum()[:-1]
    return Schedule(
        workload,
        memory,
        start,
        finish,
        timetable=Timetable(changes[:-1], begin, length, growth),
    )


def planned(
    workload: Workload, memory: int, clock: Clock, plan: Callable[[Workload], np.ndarray]
) -> Schedule:
    """Plan in rounds and run the plan.

    In rounds, and for a backlog, the plan is kept start for start. Where requests arrive
    in seconds, the round in which each is seen depends on the schedule itself: the plan
    then takes those of smallest volume first, and its starts are an order that is run
    under look-ahead admission. So they are where outputs are only predicted: the plan
    takes the predictions for the truth, and cannot be kept.

    Where clients may be turned away or give up, nobody can plan who will be there: the plan
    is made as if all stayed, and its starts are an order as well.

    Parameters
    ----------
    plan : from a workload with arrivals in rounds, the first in round 0 to 1, to (n,) int64
        starts
    """
    if workload.concurrency:
        raise InputError(
            "a plan made beforehand needs to know when requests arrive: no closed loop"
        )
    expected = workload.believing(workload.expected, memory)
    if workload.admission_limits.loses_requests:
        everyone = planned(replace(workload, admission_limits=NO_LIMITS), memory, clock, plan)
        order = np.argsort(everyone.start, kind="stable")
        return in_order(workload, memory, Walk(order, planned=expected.output), clock=clock)
    if clock.is_rounds or workload.is_backlog:
        begin = np.floor(workload.arrival.min())
        start = int(begin) + plan(replace(expected, arrival=workload.arrival - begin))
        if np.array_equal(expected.output, workload.output):
            return replay(workload, memory, start, clock)
    else:
        by_volume = expected.ascending(expected.volume)
        typical = look_ahead(expected, memory, by_volume, skip=5, clock=clock)
        start = plan(replace(expected, arrival=typical.seen.astype(float)))
    order = np.argsort(start, kind="stable")
    return in_order(workload, memory, Walk(order, planned=expected.output), clock=clock)
