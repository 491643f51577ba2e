"""The runs and bounds of a view as jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from engine import METHODS, Choice
from engine.bound_method import BoundMethod
from engine.capacity import rate
from engine.capacity.draws import Draws
from engine.capacity.headroom import headroom_in_words, smallest_memory
from engine.capacity.question import Question
from engine.experiment.advice import what_next
from engine.measure.league import Entry
from engine.progress import Progress
from engine.scale_out import where
from engine.workload import set_aside
from pages.parts.jobs import AT_ONCE, Job
from pages.parts.view import View


def run_job(view: View, choice: Choice) -> Job:
    """The run of one policy."""
    asked = view.experiment.choosing([choice])
    return Job(
        key=("run", asked),
        title=choice.label,
        seconds=asked.seconds(choice),
        compute=lambda progress: asked.run(choice, progress),
    )


def run_jobs(view: View) -> list[Job]:
    """One job a chosen policy."""
    return [run_job(view, choice) for choice in view.choices]


def advice_job(view: View, best: Entry) -> Job:
    """What to change next: a few more runs of the best policy."""
    choice, asked = best.choice, view.experiment.choosing([best.choice])
    return Job(
        key=("advice", asked),
        title="What next",
        seconds=3 * asked.seconds(choice),
        compute=lambda progress: what_next(best, asked),
    )


def headroom_job(view: View, best: Entry) -> Job:
    """The largest rate and the smallest M that the best policy carries, as a sentence."""
    choice, asked = best.choice, view.experiment.choosing([best.choice])

    def compute(progress: Progress) -> str:
        question = Question(Draws(asked.source), asked.deployment)
        carried = rate.largest_rate(
            choice, question, where(), lambda share, what="": progress(share / 2, what)
        )
        memory = smallest_memory(
            choice, question, lambda share, what="": progress((1 + share) / 2, what)
        )
        return headroom_in_words(carried, memory, asked.deployment.unit)

    return Job(
        key=("headroom", asked),
        title=f"the headroom of {best.label}",
        seconds=30 * asked.deployment.seconds(choice, len(asked.workload)) + AT_ONCE,
        compute=compute,
    )


def bound_jobs(view: View, methods: Iterable[str] | None = None) -> list[Job]:
    """One job a bound method, of these or of all, that takes so large a workload.

    None where no bound holds, nor where no request fits: that the runs say.
    """
    if view.workload.depends_on_run or not view.workload.fits(view.deployment.room).any():
        return []
    asked = METHODS if methods is None else methods
    return [job for key in asked if (job := _bound_job(view, METHODS[key])) is not None]


def _bound_job(view: View, method: BoundMethod) -> Job | None:
    """None on a clock that the method does not speak of, or where it cannot take so many."""
    deployment, truth = view.deployment, view.experiment.truth  # whatever is predicted
    if not method.speaks(deployment.clock):
        return None
    fitting, _ = set_aside(truth, deployment.room)
    seconds = deployment.bound_seconds(method, fitting)
    if seconds == math.inf:
        return None
    return Job(
        key=("bound", method.key, deployment, truth),
        title=method.title,
        seconds=seconds,
        compute=lambda progress: deployment.bounds(method, truth, progress=progress),
    )
