"""The answer to an experiment: every policy's run, the bounds, and who is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from engine.bound import NO_BOUND, Bound
from engine.bound_method import BoundMethod, default_method, find_method
from engine.choice import Choice
from engine.errors import InputError, Livelock
from engine.experiment.experiment import Experiment
from engine.measure.league import Entry, entry_of, headline, league_table
from engine.measure.per_request import per_request
from engine.measure.remarks import remarks
from engine.progress import Progress, silent
from engine.simulate.run import Run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison:
    """What became of an experiment.

    Attributes
    ----------
    experiment : what was asked
    runs : by choice, in the experiment's order; those that ended, one at least
    failed : why a choice has no run, by choice
    bounds : every row of every method that was asked for
    """

    experiment: Experiment
    runs: dict[Choice, Run]
    failed: dict[Choice, str]
    bounds: tuple[Bound, ...]

    def __str__(self) -> str:
        """The answer in one sentence."""
        return headline(self.league).replace("**", "")

    @cached_property
    def entries(self) -> dict[Choice, Entry]:
        """By choice, in the order of the runs: each with its numbers, bound, gap and verdict."""
        return {choice: entry_of(run, self.bounds) for choice, run in self.runs.items()}

    @cached_property
    def league(self) -> list[Entry]:
        """The entries by ascending mean latency."""
        return sorted(self.entries.values(), key=lambda entry: entry.mean)

    @property
    def best(self) -> Entry:
        """Whose mean latency is lowest."""
        return self.league[0]

    @property
    def table(self) -> pd.DataFrame:
        """The league, one row a policy, numbers unrounded."""
        return league_table(self.league)

    @property
    def reasons(self) -> dict[str, str]:
        """Why a policy has no run, by its label."""
        return {choice.label: reason for choice, reason in self.failed.items()}

    @property
    def remarks(self) -> list[str]:
        """What goes with the answer, a sentence each."""
        return remarks(self.league, self.bounds, self.reasons)

    def per_request(self, choice: Choice) -> pd.DataFrame:
        """One row a request of one policy's run, those set aside included."""
        there = self.experiment.deployment.inside(choice)
        return per_request(self.runs[there], self.experiment.workload)


def compare(
    experiment: Experiment, methods: Sequence[str] | None = None, progress: Progress = silent
) -> Comparison:
    """Run every policy of an experiment and bound what any could reach.

    What is asked in vain is told before anything is run. A policy that makes no headway has no
    run; the others have.

    Parameters
    ----------
    methods : keys of bound methods; None: the quick one of the clock; none where who is served
        depends on the policy
    progress : told the share done of all runs and bounds, one as long as the other

    Raises
    ------
    InputError
        For an unknown method or one that does not speak of the clock, and for any where who is
        served depends on the policy; where no request fits in M, the servers do not take a
        policy, or no policy's run ends.
    """
    bounding = _methods(experiment, methods)
    of_run, of_bound = _reports(progress, len(experiment.choices), len(bounding))
    runs: dict[Choice, Run] = {}
    failed: dict[Choice, str] = {}
    for choice, report in zip(experiment.choices, of_run, strict=True):
        try:
            runs[choice] = experiment.run(choice, report)
        except Livelock as problem:
            failed[choice] = str(problem)
    if not runs:
        raise InputError(next(iter(failed.values()), "no policy was chosen: name one or more"))
    bounds = [
        bound
        for method, report in zip(bounding, of_bound, strict=True)
        for bound in experiment.bounds(method, progress=report)
    ]
    return Comparison(experiment, runs, failed, tuple(bounds))


def _methods(experiment: Experiment, keys: Sequence[str] | None) -> list[BoundMethod]:
    """The bound methods of these keys, each able to speak of the experiment."""
    clock, nobody_knows = experiment.deployment.clock, experiment.workload.depends_on_run
    if keys is None:
        return [] if nobody_knows else [default_method(clock)]
    methods = [find_method(key) for key in keys]
    for method in methods:
        method.check(clock)
    if methods and nobody_knows:
        raise InputError(NO_BOUND)
    return methods


def _reports(progress: Progress, runs: int, bounds: int) -> tuple[list[Progress], list[Progress]]:
    """What each run and each bound reports to, so that the share of all together never falls."""

    def report_of(number: int) -> Progress:
        return lambda share, what="": progress((number + share) / (runs + bounds), what)

    reports = [report_of(number) for number in range(runs + bounds)]
    return reports[:runs], reports[runs:]
