"""What the user is looking at: one experiment under a title."""

from __future__ import annotations

from dataclasses import dataclass

from engine import Choice, Deployment, Experiment, Scenario, Workload


@dataclass(frozen=True)
class View:
    """The sidebar's answer.

    Attributes
    ----------
    title : the requests and M in one line
    experiment : what is asked; its value is the key under which results are kept
    """

    title: str
    experiment: Experiment

    @property
    def workload(self) -> Workload:
        return self.experiment.workload

    @property
    def deployment(self) -> Deployment:
        return self.experiment.deployment

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The policies to compare, in the sidebar's order."""
        return self.experiment.choices

    @property
    def scenario(self) -> Scenario | None:
        """What drew the requests; None where they were written out or uploaded."""
        source = self.experiment.source
        return source if isinstance(source, Scenario) else None
