"""The runs and bounds of a view as jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from engine import METHODS, POLICIES
from engine.capacity import rate
from engine.capacity.draws import Draws
from engine.capacity.headroom import headroom_in_words, smallest_memory
from engine.experiment.advice import what_next
from engine.measure.league import Entry
from engine.scale_out import where
from engine.workload import set_aside
from pages.parts.jobs import AT_ONCE, Job
from pages.parts.view import Choice, View


def run_job(view: View, choice: Choice) -> Job:
    """The run of one policy."""
    return Job(
        key=(*view.place, choice),
        title=choice.key,
        seconds=view.seconds(choice.policy),
        compute=lambda progress: view.topology.run(
            choice.policy, view.workload, view.memory, progress, view.clock, **dict(choice.params)
        ),
    )


def run_jobs(view: View) -> list[Job]:
    """One job a chosen policy."""
    return [run_job(view, choice) for choice in view.choices]


def advice_job(view: View, best: Entry) -> Job:
    """What to change next: a few more runs of the best policy."""
    policy = POLICIES[best.run.policy]
    return Job(
        key=(*view.place, "advice", best.label),
        title="What next",
        seconds=3 * view.seconds(policy),
        compute=lambda progress: what_next(policy, best, view.workload, view.clock, view.topology),
    )


def headroom_job(view: View, best: Entry) -> Job:
    """The largest rate and the smallest M that the best policy carries, as a sentence."""
    policy, params = POLICIES[best.run.policy], dict(best.run.params)

    def simulate(workload, memory):
        return view.topology.run(policy, workload, memory, clock=view.clock, **params)

    def compute(progress):
        draws = Draws(view.scenario or view.workload)
        carried = rate.largest_rate(
            policy,
            params,
            draws,
            view.memory,
            clock=view.clock,
            topology=view.topology,
            progress=lambda share, told="": progress(share / 2, told),
            on=where(None),
        )
        memory = smallest_memory(
            simulate,
            draws,
            view.memory,
            view.topology.servers,
            lambda share, told="": progress((1 + share) / 2, told),
        )
        return headroom_in_words(carried, memory, view.clock.unit)

    return Job(
        key=(*view.place, "headroom", best.label),
        title=f"the headroom of {best.label}",
        seconds=30 * view.topology.cost(policy, len(view.workload)) + AT_ONCE,
        compute=compute,
    )


def bound_jobs(view: View, methods: Iterable[str] = tuple(METHODS)) -> list[Job]:
    """One job a bound method that takes so large a workload; none where no bound holds."""
    if view.workload.depends_on_run:
        return []
    truth = view.truth  # whatever is predicted, the bound is the same
    fitting, _ = set_aside(truth, view.memory)
    able = [key for key in methods if METHODS[key].speaks(view.clock)]
    costs = {key: METHODS[key].cost(fitting, view.memory, view.clock) for key in able}
    return [
        Job(
            key=(truth.digest, view.memory, view.clock, view.topology, "bound", key),
            title=METHODS[key].title,
            seconds=seconds,
            compute=lambda progress, key=key: METHODS[key].bounds(
                truth,
                view.memory,
                progress,
                clock=view.clock,
                replicas=view.topology.servers,
            ),
        )
        for key, seconds in costs.items()
        if seconds < math.inf
    ]
