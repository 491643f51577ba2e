"""The answer to an experiment: every policy's run, the bounds, and who is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from engine.bound import Bound
from engine.bound_method import default_method, find_method
from engine.choice import Choice
from engine.errors import InputError, Livelock
from engine.experiment.experiment import Experiment
from engine.measure.league import Entry, league, league_table
from engine.metrics import per_request
from engine.progress import Progress, silent
from engine.simulate.run import Run


@dataclass(frozen=True, eq=False)
class Comparison:
    """What became of an experiment.

    Attributes
    ----------
    experiment : what was asked
    runs : by choice, in the experiment's order; those that ended
    failed : why a choice has no run, by choice
    bounds : every row of every method that was asked for
    """

    experiment: Experiment
    runs: dict[Choice, Run]
    failed: dict[Choice, str]
    bounds: tuple[Bound, ...]

    @cached_property
    def league(self) -> list[Entry]:
        """Every run with its numbers, bound, gap and verdict, by ascending mean latency."""
        return league(list(self.runs.values()), self.bounds)

    @property
    def table(self) -> pd.DataFrame:
        """The league, one row a policy, numbers unrounded."""
        return league_table(self.league)

    def per_request(self, choice: Choice) -> pd.DataFrame:
        """One row a request of one policy's run, those set aside included."""
        return per_request(self.runs[choice], self.experiment.workload)


def compare(
    experiment: Experiment, methods: Sequence[str] | None = None, progress: Progress = silent
) -> Comparison:
    """Run every policy of an experiment and bound what any could reach.

    Parameters
    ----------
    methods : keys of bound methods; None: the quick one of the clock; none where who is served
        depends on the policy

    Raises
    ------
    InputError
        For an unknown method or one that does not speak of the clock; where no request fits in
        M, the servers do not take a policy, or no policy's run ends.
    """
    deployment, workload = experiment.deployment, experiment.workload
    if methods is None:
        bounding = [] if workload.depends_on_run else [default_method(deployment.clock)]
    else:
        bounding = [find_method(key) for key in methods]
    runs: dict[Choice, Run] = {}
    failed: dict[Choice, str] = {}
    for choice in experiment.choices:
        try:
            runs[choice] = experiment.run(choice, progress)
        except Livelock as problem:
            failed[choice] = str(problem)
    if not runs:
        raise InputError(next(iter(failed.values()), "no policy was chosen: name one or more"))
    bounds = deployment.all_bounds(bounding, experiment.truth)
    return Comparison(experiment, runs, failed, tuple(bounds))
