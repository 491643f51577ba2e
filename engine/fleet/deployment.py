"""What serves: the memory of each server, what its rounds last, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.bound import Bound
from engine.bound_method import BoundMethod
from engine.choice import Choice
from engine.engines import IDEAL, Engine
from engine.fleet.pools import run_pools
from engine.fleet.replicas import run_replicas
from engine.fleet.routing import knows_later_arrivals, looks
from engine.fleet.sequence_bounds import as_memory, at_least, binds
from engine.fleet.topology import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.policy import QUICK, quick_policies
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.workload import Workload, check_memory

ONE_MORE_RUN = 4e-4  # seconds a run takes however few requests it has


@dataclass(frozen=True)
class Deployment:
    """Everything that a run depends on beside the requests and the policy.

    Attributes
    ----------
    memory : M of each server, tokens
    clock : rounds, or the seconds of a GPU
    topology : how many servers there are and how requests get to them
    engine : what it imposes on every policy alike

    Raises
    ------
    InputError
        For a bad M.
    """

    memory: int
    clock: Clock = ROUNDS
    topology: Topology = ONE_SERVER
    engine: Engine = IDEAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", check_memory(self.memory))
        self.engine.whole_blocks(self.memory)

    @property
    def servers(self) -> int:
        return self.topology.servers

    @property
    def unit(self) -> str:
        """What times are in."""
        return self.clock.unit

    def inside(self, choice: Choice) -> Choice:
        """The choice in the engine that runs here; InputError where it cannot."""
        return choice.inside(self.engine)

    @property
    def room(self) -> int:
        """The largest prompt + output that a request can have, whatever the policy."""
        return self.engine.usable(self.memory)

    def usable(self, choice: Choice) -> int:
        """The largest prompt + output that a request can have under this policy."""
        there = self.inside(choice)
        return there.policy.usable(self.memory, there.values)

    def with_servers(self, topology: Topology) -> Deployment:
        """The same servers, so many and so connected."""
        return replace(self, topology=topology)

    def takes(self, choice: Choice) -> bool:
        """Whether the policy can run here: routers that look must not be told the future, and
        engines take orders only.
        """
        if not self.engine.is_ideal and choice.policy.order is None:
            return False
        looking = self.servers > 1 and looks(self.topology.routing)
        return not (looking and knows_later_arrivals(choice.policy))

    def quick(self, n: int, below: float = QUICK) -> tuple[Choice, ...]:
        """The policies that can run here and at n requests take less than `below` seconds."""
        choices = (Choice(key) for key in quick_policies(n, below))
        return tuple(choice for choice in choices if self.takes(choice))

    def seconds(self, choice: Choice, n: int) -> float:
        """How long a run of n requests takes, roughly."""
        cost, topology = self.inside(choice).policy.cost, self.topology
        if self.servers == 1:
            return cost(n)
        if topology.routing == "round-robin":
            return cost(n) + ONE_MORE_RUN * self.servers
        of_each = n / max(topology.pools or (topology.replicas,))
        return n * (ONE_MORE_RUN + cost(int(of_each)) / 2)

    def run(self, choice: Choice, workload: Workload, progress: Progress = silent) -> Run:
        """Serve the requests; those that can never fit are set aside and listed in the run.

        Raises
        ------
        InputError
            Where no request fits in M or nobody is served, or the servers do not take the
            policy or the workload.
        """
        run = run_pools if self.topology.pools else run_replicas
        there = self.inside(choice)
        return run(there, workload, self.memory, self.clock, self.topology, progress)

    def bounds(
        self,
        method: BoundMethod,
        workload: Workload,
        time_limit: float | None = None,
        progress: Progress = silent,
    ) -> list[Bound]:
        """What no schedule of the requests can beat here, by one method.

        Raises
        ------
        InputError
            As `BoundMethod.bounds`.
        """
        held = self.engine.in_memory(workload, self.clock)
        memory = self.engine.whole_blocks(self.memory)
        most = self.engine.max_num_seqs
        rows = method.bounds(held, memory, self.clock, self.servers, time_limit, progress)
        fitting = held.take(held.fits(memory))
        if not (self._counts_sequences and binds(self.engine, fitting, memory)):
            return rows
        counted = as_memory(most, fitting, self.clock)
        return at_least(rows, method.bounds(*counted, self.servers, time_limit, progress), most)

    @property
    def _counts_sequences(self) -> bool:
        """Whether their limit can be priced: rounds take time however little is in them."""
        return self.clock.is_rounds or self.clock.step.c0 > 0

    def all_bounds(self, methods: Iterable[BoundMethod], workload: Workload) -> list[Bound]:
        """The rows of several methods."""
        return [bound for method in methods for bound in self.bounds(method, workload)]

    def bound_seconds(self, method: BoundMethod, workload: Workload) -> float:
        """How long `bounds` takes for requests that all fit, roughly; infinite if it cannot."""
        return method.cost(workload, self.memory * self.servers, self.clock)
