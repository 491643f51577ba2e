"""What is asked of servers: do these carry such requests within these limits?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.capacity.draws import Draws
from engine.capacity.objective import Objective
from engine.choice import Choice
from engine.fleet import Deployment, Topology
from engine.simulate.run import Run
from engine.workload import Workload


@dataclass(frozen=True)
class Question:
    """The same for every policy, rate and number of servers that is tried.

    Attributes
    ----------
    draws : what arrives, at any rate
    deployment : what serves
    objective : what counts as carried
    """

    draws: Draws
    deployment: Deployment
    objective: Objective = Objective()  # noqa: RUF009  (immutable)

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.draws.seeds

    def with_servers(self, topology: Topology) -> Question:
        """The same of so many servers, so connected."""
        return replace(self, deployment=self.deployment.with_servers(topology))

    def run(self, choice: Choice, workload: Workload) -> Run:
        """The run of a policy on some of the requests; errors as `Deployment.run`."""
        return self.deployment.run(choice, workload)

    def run_seconds(self, choice: Choice) -> float:
        """How long a run of as many requests as there are now takes, roughly."""
        return self.deployment.seconds(choice, len(self.draws.present))
