"""What is asked: requests, what serves them, and the policies to compare on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from engine.bound import Bound
from engine.bound_method import BoundMethod
from engine.choice import Choice
from engine.demand.predictions import EXACT, with_predictions
from engine.demand.source import Source, how_many, requests_of
from engine.fleet.deployment import Deployment
from engine.progress import Progress, silent
from engine.simulate.predicted_lengths import COST
from engine.simulate.run import Run
from engine.workload import Workload


@dataclass(frozen=True)
class Experiment:
    """One question as a value: equal where it asks the same, and so a key for its results.

    Attributes
    ----------
    source : a scenario, or requests
    deployment : what serves them
    choices : the policies to compare, each inside the engine that serves

    Raises
    ------
    InputError
        For a policy that cannot run inside the engine.
    """

    source: Source
    deployment: Deployment
    choices: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        inside = tuple(self.deployment.inside(choice) for choice in self.choices)
        object.__setattr__(self, "choices", inside)

    @cached_property
    def workload(self) -> Workload:
        """The requests, drawn where they are not given."""
        return requests_of(self.source)

    @cached_property
    def truth(self) -> Workload:
        """The requests without predictions: bounds know the outputs, whatever is predicted."""
        return (
            with_predictions(self.workload, EXACT) if self.workload.is_predicted else self.workload
        )

    @property
    def requests(self) -> int:
        """How many requests there are, without drawing them: roughly where a horizon decides."""
        return how_many(self.source)

    def choosing(self, choices: Iterable[Choice]) -> Experiment:
        """The same with other policies."""
        return replace(self, choices=tuple(choices))

    def seconds(self, choice: Choice) -> float:
        """How long a run of the policy takes, roughly."""
        workload, n = self.workload, len(self.workload)
        looks_up = workload.is_predicted and choice.policy.uses_lengths
        return self.deployment.seconds(choice, n) + (COST * n if looks_up else 0.0)

    def run(self, choice: Choice, progress: Progress = silent) -> Run:
        """The run of one policy; errors as `Deployment.run`."""
        return self.deployment.run(choice, self.workload, progress)

    def bounds(
        self,
        method: BoundMethod,
        time_limit: float | None = None,
        progress: Progress = silent,
    ) -> list[Bound]:
        """What no schedule can beat here; errors as `Deployment.bounds`."""
        return self.deployment.bounds(method, self.truth, time_limit, progress)
