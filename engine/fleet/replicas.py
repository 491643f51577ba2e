"""One policy on several replicas, each with requests of its own.

Every request is served by one replica, so the fleet's schedule is its replicas' schedules, put
together request by request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from engine.choice import Choice
from engine.errors import InputError
from engine.fields import number_in
from engine.fleet.routing import ROUTINGS, route
from engine.fleet.topology import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.simulate.schedule import Preemptions, Schedule
from engine.workload import Workload

MOST_REPLICAS = 1000


@dataclass(frozen=True, eq=False)
class FleetSchedule(Schedule):
    """One policy on every replica of a fleet, request by request like on a single server.

    Attributes
    ----------
    start, finish, first : (n,) int64, rounds of the replica that served the request
    of_replicas : each replica's schedule; those that got no request are left out
    replica : (n,) int64, index into `of_replicas`
    routing : how requests were sent
    count : how many replicas there were
    """

    of_replicas: tuple[Schedule, ...] = ()
    replica: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    routing: str = ""
    count: int = 1

    @property
    def replicas(self) -> int:
        return self.count

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return self.of_replicas

    def merged(self, of: Callable[[Schedule], np.ndarray]) -> np.ndarray:
        """(n,) what `of` gives for the requests of each replica's schedule."""
        return _merged(self.of_replicas, self.replica, of)

    def served(self) -> Self:
        """The schedule of those who were served, without the replicas that served nobody."""
        if self.left is None:
            return self
        used, replica = np.unique(self.replica[self.is_served], return_inverse=True)
        parts = tuple(self.of_replicas[number].served() for number in used)
        return replace(super().served(), of_replicas=parts, replica=replica)

    @cached_property
    def started_at(self) -> np.ndarray:
        return self.merged(lambda schedule: schedule.started_at)

    @cached_property
    def first_token_at(self) -> np.ndarray:
        return self.merged(lambda schedule: schedule.first_token_at)

    @cached_property
    def finished_at(self) -> np.ndarray:
        return self.merged(lambda schedule: schedule.finished_at)


def _merged(
    schedules: Sequence[Schedule], replica: np.ndarray, of: Callable[[Schedule], np.ndarray]
) -> np.ndarray:
    """(n,) the values that `of` gives for each replica's schedule, at the requests' places."""
    values = [np.asarray(of(schedule)) for schedule in schedules]
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
    check_replicas(workload, topology)

    def serve(fitting: Workload, progress: Progress) -> Schedule:
        return schedule_replicas(choice, fitting, memory, clock, topology, progress)

    return choice.policy.run_fitting(workload, memory, clock, choice.values, serve, progress)


def check_topology(topology: Topology) -> None:
    """InputError for a number of replicas or a routing that cannot be, whatever is served."""
    number_in("replicas", topology.replicas, 1, MOST_REPLICAS, whole=True)
    if topology.routing not in ROUTINGS:
        raise InputError(f"unknown routing {topology.routing}: choose from {', '.join(ROUTINGS)}")


def check_replicas(workload: Workload, topology: Topology) -> None:
    """InputError for a bad number or routing, or a closed loop on several replicas."""
    check_topology(topology)
    if topology.replicas > 1 and workload.concurrency:
        raise InputError("a closed loop runs on one replica: leave out the replicas")


def schedule_replicas(
    choice: Choice,
    fitting: Workload,
    memory: int,
    clock: Clock,
    topology: Topology,
    progress: Progress,
) -> Schedule:
    """Schedule requests that all fit; those who left unserved are still among them."""
    if topology.replicas == 1:
        return choice.schedule(fitting, memory, clock, progress)
    policy = choice.policy
    params = policy.settle_params(fitting, choice.values)

    def serve(sent: np.ndarray) -> Schedule:
        schedule = policy.simulate(fitting.take(sent), memory, clock, silent, **params)
        return replace(schedule, settled=params)

    replica_of = route(policy, fitting, topology, serve, progress)
    used, replica = np.unique(replica_of, return_inverse=True)
    schedules = tuple(serve(np.flatnonzero(replica_of == number)) for number in used)
    return _together(schedules, replica, fitting, topology)


def _together(
    schedules: tuple[Schedule, ...], replica: np.ndarray, workload: Workload, topology: Topology
) -> FleetSchedule:
    """The replicas' schedules as one."""

    def merged(of: Callable[[Schedule], np.ndarray]) -> np.ndarray:
        return _merged(schedules, replica, of)

    left, lost = None, None
    if any(schedule.left is not None for schedule in schedules):
        left = merged(_who_left)
    if any(schedule.gave_up_kv for schedule in schedules):
        lost = Preemptions(
            merged(lambda schedule: schedule.preemptions),
            merged(lambda schedule: schedule.recomputed),
        )
    return FleetSchedule(
        workload,
        schedules[0].memory,
        merged(lambda schedule: schedule.start),
        merged(lambda schedule: schedule.finish),
        first=merged(lambda schedule: schedule.first_token),
        preempted=lost,
        cut_prompts=any(schedule.cut_prompts for schedule in schedules),
        left=left,
        of_replicas=schedules,
        replica=replica,
        routing=topology.routing,
        count=topology.replicas,
    )


def _who_left(schedule: Schedule) -> np.ndarray:
    return np.zeros(len(schedule.workload), np.int8) if schedule.left is None else schedule.left
