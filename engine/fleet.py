"""Several replicas behind a router, and pools that prefill and decode apart.

A router sees requests as they arrive and sends each to one replica for good. Round-robin
needs no state. The others look at the replicas at the moment of the arrival, which a
policy's finished run cannot know; but until the next request reaches it, a replica does
what its run so far says. So each replica is simulated again with every request it gets,
from the last moment at which it was empty, and asked for its state at the next arrival.
That is exact for every policy that does not know the future, and needs nothing of it but
`run`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from engine.clock import ROUNDS, Clock
from engine.errors import InputError
from engine.fields import number_in
from engine.policy import Policy
from engine.progress import Progress, silent
from engine.simulate.run import Preemptions, Run
from engine.timeline import held_at
from engine.workload import Workload, check_memory, set_aside

MOST_REPLICAS = 1000
MOST_ROUTED = 20_000  # requests, where each arrival asks the replicas for their state


@dataclass(frozen=True, eq=False)
class FleetRun(Run):
    """One policy on every replica of a fleet, request by request like a single run.

    Attributes
    ----------
    start, finish, first : (n,) int64, rounds of the replica that served the request
    runs : each replica's run; those that got no request are left out
    replica : (n,) int64, index into `runs`
    routing : how requests were sent
    """

    runs: tuple[Run, ...] = ()
    replica: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    routing: str = ""

    @property
    def parts(self) -> tuple[Run, ...]:
        return self.runs

    def _merged(self, of: Callable[[Run], np.ndarray]) -> np.ndarray:
        return _merge(self.runs, self.replica, of)

    @cached_property
    def started_at(self) -> np.ndarray:
        return self._merged(lambda run: run.started_at)

    @cached_property
    def first_token_at(self) -> np.ndarray:
        return self._merged(lambda run: run.first_token_at)

    @cached_property
    def finished_at(self) -> np.ndarray:
        return self._merged(lambda run: run.finished_at)


def _merge(runs, replica: np.ndarray, of: Callable[[Run], np.ndarray]) -> np.ndarray:
    """(n,) the values that `of` gives for each replica's run, at the requests' places."""
    values = [np.asarray(of(run)) for run in runs]
    merged = np.empty(len(replica), np.result_type(*values))
    for number, value in enumerate(values):
        merged[replica == number] = value
    return merged


class Replica:
    """One replica as a router sees it: what it was sent, and how it stands."""

    def __init__(self, serve: Callable[[np.ndarray], Run]) -> None:
        self._serve = serve
        self.sent: list[int] = []  # since it was last empty
        self._run: Run | None = None

    def send(self, i: int) -> None:
        self.sent.append(i)
        self._run = None

    def at(self, moment: float) -> tuple[Run | None, np.ndarray]:
        """Its run and the bool of who of those sent have not finished at that moment."""
        if self.sent and self._run is None:
            self._run = self._serve(np.array(self.sent))
        if self._run is None:
            return None, np.empty(0, bool)
        there = self._run.finished_at > moment
        if not there.any():  # empty: what comes next is a new beginning
            self.sent, self._run = [], None
        return self._run, there


def _requests(replica: Replica, moment: float) -> float:
    """How many requests it has, running or waiting."""
    return float(replica.at(moment)[1].sum())


def _tokens(replica: Replica, moment: float) -> float:
    """The tokens it holds, and the prompts of those who wait."""
    run, there = replica.at(moment)
    if run is None:
        return 0.0
    waiting = there & (run.started_at > moment)
    held = held_at(run, int(run.decisions_before(moment)))[1].sum()
    return float(held + run.workload.prompt[waiting].sum())


ROUTINGS: dict[str, tuple[str, Callable[[Replica, float], float] | None]] = {
    "round-robin": ("In turn, whatever their state.", None),
    "least-loaded": ("To the replica with the fewest requests, running or waiting.", _requests),
    "join-shortest-memory": (
        "To the replica that holds the fewest tokens, prompts of those waiting included.",
        _tokens,
    ),
}


def run_fleet(
    policy: Policy,
    params: dict,
    workload: Workload,
    memory: int,
    clock: Clock = ROUNDS,
    replicas: int = 1,
    routing: str = "round-robin",
    progress: Progress = silent,
) -> Run:
    """Run a policy on each of several replicas, each with memory M.

    Raises
    ------
    InputError
        For a bad number or routing, in a closed loop, or where a router that looks at the
        replicas has too many requests or a policy that knows the future.
    """
    replicas = number_in("replicas", replicas, 1, MOST_REPLICAS, whole=True)
    if routing not in ROUTINGS:
        raise InputError(f"unknown routing {routing}: choose from {', '.join(ROUTINGS)}")
    if replicas == 1:
        return policy.run(workload, memory, progress, clock, **params)
    if workload.concurrency:
        raise InputError("a closed loop runs on one replica: leave out the replicas")
    usable = policy.usable(check_memory(memory), policy.read_params(params))
    fitting, aside = set_aside(workload, usable)

    def serve(sent: np.ndarray) -> Run:
        return policy.run(fitting.take(sent), memory, silent, clock, **params)

    chosen = _route(policy, fitting, replicas, routing, serve, progress)
    used, replica = np.unique(chosen, return_inverse=True)
    runs = tuple(serve(np.flatnonzero(chosen == number)) for number in used)
    return _together(runs, replica, fitting, aside, memory, routing)


def _route(policy, workload, replicas, routing, serve, progress) -> np.ndarray:
    """(n,) int64: the replica of each request."""
    state = ROUTINGS[routing][1]
    in_turn = workload.ascending(workload.arrival)
    chosen = np.empty(len(workload), np.int64)
    if state is None:
        chosen[in_turn] = np.arange(len(workload)) % replicas
        return chosen
    if policy.offline or policy.waits_for_more:
        raise InputError(
            f"{policy.key} takes later arrivals into account, which {routing} cannot know: "
            "use round-robin"
        )
    if len(workload) > MOST_ROUTED:
        raise InputError(
            f"{routing} takes at most {MOST_ROUTED:,} requests, got {len(workload):,}: "
            "use round-robin"
        )
    servers = [Replica(serve) for _ in range(replicas)]
    for done, i in enumerate(in_turn.tolist()):
        moment = float(workload.arrival[i])
        loads = [state(server, moment) for server in servers]
        chosen[i] = int(np.argmin(loads))
        servers[chosen[i]].send(i)
        progress(done / len(workload))
    return chosen


def _together(runs, replica, workload, aside, memory, routing) -> FleetRun:
    """The replicas' runs as one."""
    first = runs[0]
    lost = None
    if any(run.gave_up_kv for run in runs):
        lost = Preemptions(
            _merge(runs, replica, lambda run: run.preemptions),
            _merge(runs, replica, lambda run: run.recomputed),
        )
    return FleetRun(
        workload,
        memory,
        _merge(runs, replica, lambda run: run.start),
        _merge(runs, replica, lambda run: run.finish),
        first=_merge(runs, replica, lambda run: run.first_token),
        preempted=lost,
        cut_prompts=any(run.cut_prompts for run in runs),
        set_aside=aside,
        policy=first.policy,
        params=first.params,
        clock=first.clock,
        runs=runs,
        replica=replica,
        routing=routing,
    )
