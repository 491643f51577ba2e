"""From a workload to a run under a policy's kernel: open a server, let it work, read its log.

The kernels stop when the log of residencies is full; `serve` then gives them a longer one and
they go on where they were, which also is where progress is reported and a stop is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from engine.machine.clock import Clock
from engine.progress import Progress
from engine.simulate.arrival_queue import arrival_order, as_it_came, new_arrival_queue, who_left
from engine.simulate.schedule import Preemptions, Residencies, Schedule
from engine.simulate.server import REQUEST, RESIDENCY, SERVER_STATE, Server
from engine.simulate.timetable import NEVER, new_round_clock, timetable_of
from engine.workload import Workload


def open_server(workload: Workload, memory: int, clock: Clock) -> tuple[Server, np.ndarray]:
    """An empty server, and the (n,) workload indices of its requests in order of arrival."""
    n = len(workload)
    order = arrival_order(workload)
    of = np.zeros(n, REQUEST)
    for name in ("prompt", "output"):
        of[name] = getattr(workload, name)[order]
    for name in ("done", "first", "finish"):
        of[name] = NEVER
    of["start"] = -1
    of["cached"] = workload.with_cache
    state = np.zeros(1, SERVER_STATE)[0]
    state["next_done"] = NEVER
    server = Server(
        memory,
        new_arrival_queue(workload, order),
        of,
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        state,
        new_round_clock(clock, 6 * n + 8),
        np.empty(4 * n + 8, RESIDENCY),
    )
    return server, order


def _longer(log: np.ndarray) -> np.ndarray:
    """The same with half as much room again."""
    more = np.empty(log.size + log.size // 2, log.dtype)
    more[: log.size] = log
    return more


def with_longer_log(server: Server) -> Server:
    round_clock = server.round_clock._replace(spans=_longer(server.round_clock.spans))
    return server._replace(round_clock=round_clock, log=_longer(server.log))


Serve = Callable[[Server], None]


def serve(
    workload: Workload, memory: int, clock: Clock, rule: Serve, progress: Progress
) -> Schedule:
    """Run the requests under a policy's kernel.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    rule : goes on with a server until all is over or the log has no room
    """
    server, order = open_server(workload, memory, clock)
    n = len(order)
    rule(server)
    while (over := server.state["finished"] + server.arrival_queue.counts["unserved"]) < n:
        progress(float(over) / n)
        server = with_longer_log(server)
        rule(server)
    return schedule_of(server, order, workload)


def schedule_of(server: Server, order: np.ndarray, workload: Workload) -> Schedule:
    """What a server has logged."""

    def by_request(name):
        result = np.empty(len(order), REQUEST[name])
        result[order] = server.of[name]
        return result

    log = server.log[: int(server.state["residencies"])]
    log = log[log["end"] > log["begin"]]  # some were over in the decision that began them
    left = who_left(server.arrival_queue, order)
    plain = left is None and len(log) == len(order)
    residencies = Residencies(
        order[log["request"]],
        log["begin"].copy(),
        log["end"].copy(),
        log["held"].copy(),
        log["grows"].copy(),
    )
    lost = by_request("lost")
    if workload.concurrency:
        workload = replace(workload, arrival=as_it_came(workload, server.arrival_queue, order))
    return Schedule(
        workload,
        server.memory,
        by_request("start"),
        by_request("finish"),
        first=by_request("first"),
        logged=None if plain else residencies,
        preempted=Preemptions(lost, by_request("recomputed")) if lost.any() else None,
        cut_prompts=bool(server.state["cut"]),
        timetable=timetable_of(server.round_clock),
        left=left,
    )
