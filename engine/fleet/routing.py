"""Who serves whom: a router sends each request to one replica, for good, as it arrives.

Round-robin needs no state. The others look at the replicas at the moment of the arrival,
which a policy's finished schedule cannot know; but until the next request reaches it, a replica
does what its schedule so far says. So each replica is simulated again with every request it
gets, from the last moment at which it was empty, and asked for its state at the next
arrival. That is exact for every policy that does not know the future, and needs nothing
of it but `simulate`.

Where replicas are seldom empty a simulation for every request would be long work. So several
requests are sent on a guess, from what the replicas do without them, and simulated at once: as a
policy does not know the future, the state at the first of them is right, so its replica is known;
and if that was the guess, so is the state at the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.fleet.topology import Topology
from engine.memory_curve import held_at
from engine.policy import Policy
from engine.progress import Progress
from engine.simulate.schedule import Schedule
from engine.workload import Workload

MOST_ROUTED = 20_000  # requests, where each arrival asks the replicas for their state
MOST_AHEAD = 256  # requests that are sent on a guess

Serve = Callable[[np.ndarray], Schedule]  # of a replica that was sent these requests


class Replica:
    """One replica as a router sees it: what it was sent, and what it does with it."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.sent: list[int] = []  # since it was last empty; those on a guess are the last
        self.certain = 0  # how many of them are no guess
        self._schedule: Schedule | None = None

    def guess(self, requests: Sequence[int]) -> None:
        """Suppose that it is sent these too."""
        if requests:
            self.sent, self._schedule = [*self.sent, *requests], None

    def send(self, i: int) -> None:
        """The next of the guesses, or another request in the place of all."""
        if self.certain == len(self.sent) or self.sent[self.certain] != i:
            self.forget_guesses()
            self.sent, self._schedule = [*self.sent, i], None
        self.certain += 1

    def forget_guesses(self) -> None:
        if self.certain < len(self.sent):
            self.sent, self._schedule = self.sent[: self.certain], None

    def begin_anew(self) -> None:
        """It is empty: what comes next is a new beginning."""
        self.sent, self.certain, self._schedule = [], 0, None

    def at(self, moment: float) -> tuple[Schedule | None, np.ndarray]:
        """Its schedule and the bool of who of those certainly sent are still there then."""
        if not self.certain:
            return None, np.empty(0, bool)
        if self._schedule is None:
            self._schedule = self._serve(np.array(self.sent))
        there = self._schedule.gone_at > moment
        there[self.certain :] = False
        return self._schedule, there


@dataclass(frozen=True)
class RouterLoad:
    """What a router looks at.

    Attributes
    ----------
    of : (replica, moment) -> its load
    adds : (workload, i) -> what request i adds to it on arrival
    """

    of: Callable[[Replica, float], float]
    adds: Callable[[Workload, int], float]


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


ROUTINGS: dict[str, tuple[str, RouterLoad | None]] = {
    "round-robin": ("In turn, whatever their state.", None),
    "least-loaded": (
        "To the replica with the fewest requests, running or waiting.",
        RouterLoad(_requests, lambda workload, i: 1.0),
    ),
    "join-shortest-memory": (
        "To the replica that holds the fewest tokens, prompts of those waiting included.",
        RouterLoad(_tokens, lambda workload, i: float(workload.prompt[i])),
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
    done, ahead = 0, 1
    while done < len(in_turn):
        requests = in_turn[done : done + ahead].tolist()
        guesses = _guess(servers, workload, requests[:-1], load)
        chosen = _send(servers, workload, requests, guesses, load)
        replica_of[requests[: len(chosen)]] = chosen
        done += len(chosen)
        ahead = min(MOST_AHEAD, 2 * ahead) if len(chosen) == ahead else len(chosen)
        progress(done / len(workload))
    return replica_of


def _guess(
    servers: Sequence[Replica], workload: Workload, requests: Sequence[int], load: RouterLoad
) -> list[int]:
    """Send requests as if none of them changed when others leave; to whom."""
    added = [0.0] * len(servers)
    guesses: list[int] = []
    for i in requests:
        moment = float(workload.arrival[i])
        loads = [
            load.of(server, moment) + more for server, more in zip(servers, added, strict=True)
        ]
        guesses.append(int(np.argmin(loads)))
        added[guesses[-1]] += load.adds(workload, i)
    for number, server in enumerate(servers):
        server.guess([i for i, guess in zip(requests, guesses, strict=True) if guess == number])
    return guesses


def _send(
    servers: Sequence[Replica],
    workload: Workload,
    requests: Sequence[int],
    guesses: Sequence[int],
    load: RouterLoad,
) -> list[int]:
    """Send requests for certain, up to the first that goes elsewhere than was guessed; to whom.

    Or up to the first that finds a replica empty: there it begins anew.
    """
    chosen: list[int] = []
    for i, guess in zip(requests, [*guesses, -1], strict=True):
        moment = float(workload.arrival[i])
        chosen.append(int(np.argmin([load.of(server, moment) for server in servers])))
        empty = [server for server in servers if server.certain and not server.at(moment)[1].any()]
        for server in empty:
            server.begin_anew()
        servers[chosen[-1]].send(i)
        if empty or chosen[-1] != guess:
            break
    for server in servers:
        server.forget_guesses()
    return chosen
