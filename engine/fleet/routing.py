"""Who serves whom: a router sends each request to one replica, for good, as it arrives.

Round-robin needs no state. The others look at the replicas at the moment of the arrival,
which a policy's finished schedule cannot know; but until the next request reaches it, a replica
does what its schedule so far says. So each replica is simulated again with every request it
gets, from the last moment at which it was empty, and asked for its state at the next
arrival. That is exact for every policy that does not know the future, and needs nothing
of it but `simulate`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.errors import InputError
from engine.fleet.topology import Topology
from engine.memory_curve import held_at
from engine.policy import Policy
from engine.progress import Progress
from engine.simulate.schedule import Schedule
from engine.workload import Workload

MOST_ROUTED = 20_000  # requests, where each arrival asks the replicas for their state

Serve = Callable[[np.ndarray], Schedule]  # of a replica that was sent these requests


class Replica:
    """One replica as a router sees it: what it was sent, and what it does with it."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.sent: list[int] = []  # since it was last empty
        self._schedule: Schedule | None = None

    def send(self, i: int) -> None:
        self.sent.append(i)
        self._schedule = None

    def at(self, moment: float) -> tuple[Schedule | None, np.ndarray]:
        """Its schedule and the bool of who of those sent are still there at that moment."""
        if self.sent and self._schedule is None:
            self._schedule = self._serve(np.array(self.sent))
        if self._schedule is None:
            return None, np.empty(0, bool)
        there = self._schedule.gone_at > moment
        if not there.any():  # empty: what comes next is a new beginning
            self.sent, self._schedule = [], None
        return self._schedule, there


def _requests(replica: Replica, moment: float) -> float:
    """How many requests it has, running or waiting."""
    return float(replica.at(moment)[1].sum())


def _tokens(replica: Replica, moment: float) -> float:
    """The tokens it holds after the last round that ended, and the prompts of all others."""
    schedule, there = replica.at(moment)
    if schedule is None:
        return 0.0
    holders, held = held_at(schedule, schedule.decisions_before(moment))
    others = there.copy()
    others[holders] = False
    return float(held[there[holders]].sum() + schedule.workload.prompt[others].sum())


Load = Callable[[Replica, float], float]

ROUTINGS: dict[str, tuple[str, Load | None]] = {
    "round-robin": ("In turn, whatever their state.", None),
    "least-loaded": ("To the replica with the fewest requests, running or waiting.", _requests),
    "join-shortest-memory": (
        "To the replica that holds the fewest tokens, prompts of those waiting included.",
        _tokens,
    ),
}


def looks(routing: str) -> bool:
    """Whether a router asks the replicas for their state."""
    return routing in ROUTINGS and ROUTINGS[routing][1] is not None


def knows_later_arrivals(policy: Policy) -> bool:
    """Whether a policy's past depends on requests that a router has yet to send."""
    return policy.offline or policy.waits_for_more


def route(
    policy: Policy, workload: Workload, topology: Topology, serve: Serve, progress: Progress
) -> np.ndarray:
    """(n,) int64: the replica of each request.

    Raises
    ------
    InputError
        Where a router that looks at the replicas has too many requests, or a policy that
        knows the future.
    """
    in_turn, routing = workload.ascending(workload.arrival), topology.routing
    load = ROUTINGS[routing][1]
    replica_of = np.empty(len(workload), np.int64)
    if load is None:
        replica_of[in_turn] = np.arange(len(workload)) % topology.replicas
        return replica_of
    if knows_later_arrivals(policy):
        raise InputError(
            f"{policy.key} takes later arrivals into account, which {routing} cannot know: "
            "use round-robin"
        )
    if len(workload) > MOST_ROUTED:
        raise InputError(
            f"{routing} takes at most {MOST_ROUTED:,} requests, got {len(workload):,}: "
            "use round-robin"
        )
    servers = [Replica(serve) for _ in range(topology.replicas)]
    for done, i in enumerate(in_turn.tolist()):
        moment = float(workload.arrival[i])
        loads = [load(server, moment) for server in servers]
        replica_of[i] = int(np.argmin(loads))
        servers[replica_of[i]].send(i)
        progress(done / len(workload))
    return replica_of
