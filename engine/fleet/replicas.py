"""One policy on several replicas, each with requests of its own.

Every request is served by one replica, so the fleet's run is its replicas' runs, put
together request by request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from engine.choice import Choice
from engine.errors import InputError
from engine.fields import number_in
from engine.fleet.routing import ROUTINGS, route
from engine.fleet.topology import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.progress import Progress, silent
from engine.simulate.run import Preemptions, Run
from engine.workload import Workload, check_memory, set_aside

MOST_REPLICAS = 1000


@dataclass(frozen=True, eq=False)
class FleetRun(Run):
    """One policy on every replica of a fleet, request by request like a single run.

    Attributes
    ----------
    start, finish, first : (n,) int64, rounds of the replica that served the request
    runs : each replica's run; those that got no request are left out
    replica : (n,) int64, index into `runs`
    routing : how requests were sent
    of : how many replicas there were
    """

    runs: tuple[Run, ...] = ()
    replica: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    routing: str = ""
    of: int = 1

    @property
    def replicas(self) -> int:
        return self.of

    @property
    def parts(self) -> tuple[Run, ...]:
        return self.runs

    def merged(self, of: Callable[[Run], np.ndarray]) -> np.ndarray:
        """(n,) what `of` gives for the requests of each replica's run."""
        return _merge(self.runs, self.replica, of)

    def served(self) -> FleetRun:
        """The run of those who were served; replicas that served nobody are left out."""
        if self.left is None:
            return self
        used, replica = np.unique(self.replica[self.is_served], return_inverse=True)
        parts = tuple(self.runs[number].served() for number in used)
        return replace(super().served(), runs=parts, replica=replica)

    @cached_property
    def started_at(self) -> np.ndarray:
        return self.merged(lambda run: run.started_at)

    @cached_property
    def first_token_at(self) -> np.ndarray:
        return self.merged(lambda run: run.first_token_at)

    @cached_property
    def finished_at(self) -> np.ndarray:
        return self.merged(lambda run: run.finished_at)


def _merge(runs, replica: np.ndarray, of: Callable[[Run], np.ndarray]) -> np.ndarray:
    """(n,) the values that `of` gives for each replica's run, at the requests' places."""
    values = [np.asarray(of(run)) for run in runs]
    merged = np.empty(len(replica), np.result_type(*values))
    for number, value in enumerate(values):
        merged[replica == number] = value
    return merged


def run_replicas(
    choice: Choice,
    workload: Workload,
    memory: int,
    clock: Clock = ROUNDS,
    topology: Topology = ONE_SERVER,
    progress: Progress = silent,
) -> Run:
    """Run a policy on each of the topology's replicas, each with memory M.

    Raises
    ------
    InputError
        For a bad number or routing, in a closed loop, or where a router that looks at the
        replicas has too many requests or a policy that knows the future.
    """
    replicas = number_in("replicas", topology.replicas, 1, MOST_REPLICAS, whole=True)
    policy, values, routing = choice.policy, choice.values, topology.routing
    if routing not in ROUTINGS:
        raise InputError(f"unknown routing {routing}: choose from {', '.join(ROUTINGS)}")
    if replicas == 1:
        return policy.run(workload, memory, clock, progress, **values)
    if workload.concurrency:
        raise InputError("a closed loop runs on one replica: leave out the replicas")
    fitting, aside = set_aside(workload, policy.usable(check_memory(memory), values))

    told = policy.told_of_all(fitting, values)

    def serve(sent: np.ndarray) -> Run:
        return policy.serve(fitting.take(sent), memory, clock, told, silent)

    chosen = route(policy, fitting, replicas, routing, serve, progress)
    used, replica = np.unique(chosen, return_inverse=True)
    runs = tuple(serve(np.flatnonzero(chosen == number)) for number in used)
    run = _together(runs, replica, fitting, memory, routing, replicas).served()
    return replace(run, params=values, set_aside=aside, too_long=int(workload.is_too_long.sum()))


def _together(runs, replica, workload, memory, routing, of) -> FleetRun:
    """The replicas' runs as one."""
    first, lost, left = runs[0], None, None
    if any(run.left is not None for run in runs):
        left = _merge(
            runs,
            replica,
            lambda run: np.zeros(len(run.workload), np.int8) if run.left is None else run.left,
        )
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
        left=left,
        policy=first.policy,
        params=first.params,
        clock=first.clock,
        runs=runs,
        replica=replica,
        routing=routing,
        of=of,
    )
