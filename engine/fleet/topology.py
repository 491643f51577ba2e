"""How many servers there are, and how requests get to them."""

from __future__ import annotations

from dataclasses import dataclass

from engine.fleet.pools import run_pools
from engine.fleet.replicas import run_fleet
from engine.fleet.routing import knows_later_arrivals, looks
from engine.machine.clock import ROUNDS, Clock
from engine.policy import Policy
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.workload import Workload

ONE_MORE_RUN = 4e-4  # seconds a run takes however few requests it has


@dataclass(frozen=True)
class Topology:
    """How many servers there are and how requests get to them.

    Attributes
    ----------
    replicas, routing : as in `run_fleet`
    pools, transfer : as in `run_pools`; None where every replica does everything
    """

    replicas: int = 1
    routing: str = "round-robin"
    pools: tuple[int, int] | None = None
    transfer: float = 0.0

    @property
    def servers(self) -> int:
        return sum(self.pools) if self.pools else self.replicas

    def takes(self, policy: Policy) -> bool:
        """Whether the policy can run here: routers that look must not be told the future."""
        return not (self.servers > 1 and looks(self.routing) and knows_later_arrivals(policy))

    def cost(self, policy: Policy, n: int) -> float:
        """Seconds it takes for n requests, roughly."""
        if self.servers == 1:
            return policy.cost(n)
        if self.routing == "round-robin":
            return policy.cost(n) + ONE_MORE_RUN * self.servers
        each = n / max(self.pools or (self.replicas,))
        return n * (ONE_MORE_RUN + policy.cost(int(each)) / 2)

    def run(
        self,
        policy: Policy,
        workload: Workload,
        memory: int,
        progress: Progress = silent,
        clock: Clock = ROUNDS,
        **params,
    ) -> Run:
        """Run a policy on these servers; like `Policy.run` where there is one."""
        if self.pools:
            return run_pools(
                policy,
                params,
                workload,
                memory,
                clock,
                self.pools,
                self.transfer,
                self.routing,
                progress,
            )
        return run_fleet(
            policy, params, workload, memory, clock, self.replicas, self.routing, progress
        )

    def __str__(self) -> str:
        if self.pools:
            prefill, decode = self.pools
            return f"prefill on {prefill}, decoding on {decode} replica{'s' * (decode > 1)}"
        return "1 replica" if self.replicas == 1 else f"{self.replicas} replicas, {self.routing}"


ONE_SERVER = Topology()
