"""What the user is looking at: one scenario and the policies to compare on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from engine import POLICIES, Scenario, Workload
from engine.demand.predictions import EXACT, with_predictions
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.policy import Policy
from engine.simulate.predicted_lengths import COST


@dataclass(frozen=True)
class Choice:
    """A policy with the parameters the user set."""

    key: str
    params: tuple[tuple[str, float], ...] = ()

    @property
    def policy(self) -> Policy:
        return POLICIES[self.key]

    def seconds(self, n: int) -> float:
        """How long it takes for n requests, roughly."""
        return self.policy.cost(n)


@dataclass(frozen=True, eq=False)
class View:
    """The sidebar's answer.

    Attributes
    ----------
    title : the scenario in one line
    workload, memory : its requests and its M, tokens
    choices : the policies to compare, in the sidebar's order
    scenario : what drew the requests; None where they were written out or uploaded
    clock : rounds, or the seconds of a GPU
    topology : how many servers there are
    """

    title: str
    workload: Workload
    memory: int
    choices: tuple[Choice, ...]
    scenario: Scenario | None = None
    clock: Clock = ROUNDS
    topology: Topology = ONE_SERVER

    def seconds(self, policy: Policy) -> float:
        """How long a run of the policy takes here, roughly."""
        n = len(self.workload)
        guessing = COST * n if self.workload.is_predicted and policy.uses_lengths else 0.0
        return self.topology.cost(policy, n) + guessing

    @cached_property
    def truth(self) -> Workload:
        """The requests without predictions: bounds know the outputs, whatever is predicted."""
        return (
            with_predictions(self.workload, EXACT) if self.workload.is_predicted else self.workload
        )

    @property
    def place(self) -> tuple[str, int, Clock, Topology]:
        """What results depend on beside the policy: a key for caches."""
        return self.workload.digest, self.memory, self.clock, self.topology
