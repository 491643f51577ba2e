"""Policies run at every value of an axis, on the same requests with the same luck.

A draw has one seed, for requests and predictions. Along an axis of errors the same standard
errors are scaled (engine/demand/predictions.py), so that within a draw only what is varied differs.
A policy that the axis does not concern runs once a draw.

Gaps are against the clairvoyant bound: one certified for all schedules of the true outputs,
whatever was predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.bound import Bound, gap
from engine.bound_method import default_method
from engine.choice import Choice
from engine.demand.generate import generate
from engine.demand.predictions import EXACT, Predictions, with_predictions
from engine.errors import Livelock
from engine.experiment import Experiment
from engine.fleet import Deployment
from engine.measure.overload import verdict
from engine.measure.set_aside import NOBODY_ASIDE, SetAside
from engine.policy import Policy
from engine.progress import Progress, silent
from engine.simulate.predicted_lengths import COST
from engine.simulate.run import Run
from engine.uncertainty.axis import MARGIN, Axis
from engine.workload import Workload, set_aside

SEEDS = 10
DEAR = 0.5  # seconds a run: a policy that takes longer is left out
READING = 7e-4  # seconds that the numbers of a run take


def takes_margin(policy: Policy) -> bool:
    """Whether a policy has a margin to set."""
    return any(param.name == MARGIN for param in policy.params)


@dataclass(frozen=True)
class Study:
    """What is varied about what.

    Attributes
    ----------
    experiment : the requests, what serves them, and the policies
    axis : what is varied
    model : the predictions where the axis does not decide them
    """

    experiment: Experiment
    axis: Axis
    model: Predictions = EXACT

    @property
    def deployment(self) -> Deployment:
        return self.experiment.deployment

    @property
    def affordable(self) -> tuple[Choice, ...]:
        """The choices whose runs do not take too long."""
        n = self.experiment.requests
        return tuple(
            choice
            for choice in self.experiment.choices
            if self.deployment.seconds(choice, n) <= DEAR
        )

    @property
    def seconds(self) -> float:
        """How long a draw takes, roughly."""
        n = self.experiment.requests
        by_choice = [
            (self.deployment.seconds(choice, n) + READING + COST * n)
            * (len(self.axis.values) if self.concerns(choice.policy) else 1)
            for choice in self.affordable
        ]
        return sum(by_choice) + 1e-5 * n

    def concerns(self, policy: Policy) -> bool:
        """Whether the policy's runs differ along the axis."""
        return takes_margin(policy) if self.axis.key == MARGIN else policy.uses_lengths

    def truth(self, seed: int) -> Workload:
        """The requests of a draw; those that were logged are always the same."""
        source = self.experiment.source
        if isinstance(source, Workload):
            return with_predictions(source, EXACT)
        return generate(replace(source, seed=seed, predict=EXACT))


@dataclass(frozen=True, eq=False)
class PolicyCurve:
    """One policy in one draw, by value of the axis: (values,) each, NaN where it cannot end.

    Attributes
    ----------
    choice : the policy
    latency : mean end-to-end latency, clock units
    preemptions : how often KV cache was given up
    wasted : tokens prefilled or generated a second time
    gap : total latency over the clairvoyant bound; NaN where none covers the run
    overloaded : bool, where latencies grow with the horizon
    """

    choice: Choice
    latency: np.ndarray
    preemptions: np.ndarray
    wasted: np.ndarray
    gap: np.ndarray
    overloaded: np.ndarray


@dataclass(frozen=True, eq=False)
class Draw:
    """The curves of one draw, by the label of the policy.

    Attributes
    ----------
    requests, set_aside : how many ran, and how many never do
    """

    values: tuple[float, ...]
    curves: dict[str, PolicyCurve]
    requests: int
    set_aside: SetAside = NOBODY_ASIDE


def draw(study: Study, seed: int, progress: Progress = silent) -> Draw:
    """Run every affordable policy at every value, on the requests and errors of one seed.

    Raises
    ------
    InputError
        Where no request fits in M, or a topology does not take a policy.
    """
    values, choices = study.axis.values, study.affordable
    deployment = study.deployment
    drawn = study.truth(seed)
    truth, _ = set_aside(drawn, deployment.room)
    bounds: list[Bound] = []
    if not truth.depends_on_run:
        bounds = deployment.bounds(default_method(deployment.clock), truth)
    rows: dict[Choice, list] = {choice: [] for choice in choices}
    for done, value in enumerate(values):
        progress(done / len(values), f"{study.axis.key} {value:g}")
        predicted = with_predictions(truth, study.axis.model(value, study.model), seed)
        for choice in choices:
            if done == 0 or study.concerns(choice.policy):
                rows[choice].append(_row(study, predicted, choice, value, bounds))
    curves = {choice.label: _curve(choice, rows[choice], len(values)) for choice in choices}
    return Draw(values, curves, len(truth), SetAside.of(drawn, deployment.room))


def _row(
    study: Study, workload: Workload, choice: Choice, value: float, bounds: Sequence[Bound]
) -> tuple | None:
    if study.axis.key == MARGIN and study.concerns(choice.policy):
        choice = choice.changed(**{MARGIN: value})
    try:
        run = study.deployment.run(choice, workload)
    except Livelock:
        return None
    return _numbers(run, bounds)


def _numbers(run: Run, bounds: Sequence[Bound]) -> tuple:
    above_bound = gap(run, bounds)
    return (
        float(run.latency.mean()),
        int(run.preemptions.sum()),
        int(run.recomputed.sum()),
        np.nan if above_bound is None else above_bound,
        verdict(run).kind == "overloaded",
    )


def _curve(choice: Choice, rows: list, values: int) -> PolicyCurve:
    """One row for every value; a single one stands for all."""
    nothing = (np.nan, np.nan, np.nan, np.nan, True)
    by_row = np.array([nothing if row is None else row for row in rows], float)
    latency, preemptions, wasted, above_bound, overloaded = np.broadcast_to(by_row, (values, 5)).T
    return PolicyCurve(choice, latency, preemptions, wasted, above_bound, overloaded > 0)
