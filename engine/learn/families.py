"""Families of requests on which a rule of thumb loses by as much as one likes.

The ratios are known and are tested: they compare a policy with the same requests, the small
ones first. Sources: for the first and third arXiv 2502.07115 gives the growth, the instances
are ours; the second shows the same of ordering by total size.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from engine.demand.example import ExampleRequests, written_out
from engine.simulate.look_ahead import look_ahead
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule, Walk
from engine.workload import Workload


def fat_and_tiny(memory: int) -> Workload:
    """sqrt(M) requests (M - 1, 1), which fill the memory, and M requests (1, 2)."""
    return written_out(
        ExampleRequests(memory - 1, 1, class_name="fat", count=isqrt(memory)),
        ExampleRequests(1, 2, class_name="tiny", count=memory),
    )


def lasting_and_brief(length: int, together: int) -> tuple[Workload, int]:
    """`together` x (L^2, L) and sqrt(L) times as many (L^2 + L, 1), and the M to run them in.

    M holds `together` of the brief at once, or of the lasting, whose total size is smaller by 1.
    """
    square = length * length
    workload = written_out(
        ExampleRequests(square, length, class_name="lasting", count=together),
        ExampleRequests(square + length, 1, class_name="brief", count=together * isqrt(length)),
    )
    return workload, together * (square + length + 1)


def long_then_shorts(memory: int, release: int) -> Workload:
    """A request (1, M - 1) at round 0, and M/2 requests (1, 1) that come at round `release`."""
    return written_out(
        ExampleRequests(1, memory - 1, class_name="long"),
        ExampleRequests(1, 1, arrival=release, class_name="short", count=memory // 2),
    )


def worst_release(memory: int) -> int:
    """When the short ones of `long_then_shorts` should come: sqrt(M) rounds before the long
    one's end."""
    return memory - 1 - isqrt(memory)


def small_first(workload: Workload, memory: int) -> Run:
    """The last class of a family before the others, whatever their arrival, by look-ahead.

    Where the last class comes later, the first is held back until it has started.
    """
    order = np.argsort(-workload.class_of, kind="stable")
    held_back = np.full(len(workload), workload.arrival.max())
    late = Workload(
        held_back, workload.prompt, workload.output, workload.class_of, workload.classes
    )
    held = look_ahead(late, memory, order)
    return Run(Schedule(workload, memory, held.start, held.finish, walk=Walk(order)))
