"""The draws of a study as jobs: one draw, one job, pooled as they come."""

from __future__ import annotations

from functools import partial

from engine import Choice
from engine.demand.predictions import EXACT, Predictions
from engine.uncertainty.axis import AXES
from engine.uncertainty.pairs import FEW, pairs_of
from engine.uncertainty.pooled import Pooled
from engine.uncertainty.resampled import resampled
from engine.uncertainty.study import SEEDS, Draw, Study, draw
from pages.parts import show
from pages.parts.jobs import Job, finished
from pages.parts.view import View

AT_ONCE = 1.5  # seconds: a first draw that takes less is made unasked
RIVALS = (Choice("vllm"), Choice("fcfs"))  # stand for those told nothing, in an engine the latter
BY_INTERVALS = ("a-max", "a-min")  # who is always in a study of intervals


def study_of(view: View, axis: str, model: Predictions) -> Study:
    """The sidebar's policies along an axis.

    One that uses no lengths is always among them, and those for intervals where these are varied.
    """
    choices = [
        choice
        for choice in view.choices
        if not choice.policy.timed and view.deployment.takes(choice)
    ][: show.DRAWN]
    if axis == "width":
        chosen = {choice.key for choice in choices}
        missing = [Choice(key) for key in BY_INTERVALS if key not in chosen]
        choices += [choice for choice in missing if view.deployment.takes(choice)]
    if all(choice.policy.uses_lengths for choice in choices):
        choices.insert(0, next(filter(view.deployment.takes, RIVALS)))
    return Study(view.experiment.choosing(choices), AXES[axis], model)


def current_model(view: View) -> Predictions:
    """The predictions in the sidebar; those that a trace has become a record of errors."""
    if view.scenario is not None:
        return view.scenario.predict
    has_record = view.workload.is_predicted and len(view.workload) >= FEW
    return resampled(pairs_of(view.workload)) if has_record else EXACT


def draw_jobs(view: View, study: Study, whose: str) -> list[Job]:
    """One job a seed; requests that were logged have only errors to draw anew.

    `whose` errors these are tells the jobs of two studies apart.
    """
    first = 0 if view.scenario is None else view.scenario.seed
    return [
        Job(
            key=("uncertainty", study.experiment, study.axis.key, study.model, seed),
            title=f"draw {number + 1} of {SEEDS} along {study.axis.key}, {whose}",
            seconds=study.seconds,
            compute=partial(draw, study, seed),
        )
        for number, seed in enumerate((first + k) % 2**32 for k in range(SEEDS))
    ]


def pooled(jobs: list[Job]) -> Pooled | None:
    """The draws that are there, the first one made now if it is quick; None without any."""
    draws: list[Draw] = finished(jobs)
    if not draws and jobs[0].seconds < AT_ONCE:
        draws = [jobs[0].result()]
    return Pooled(draws) if draws else None
