"""What to change next: each suggestion is a simulation of the change, not a rule of thumb."""

from __future__ import annotations

import math
from dataclasses import replace

from engine import wording
from engine.experiment.experiment import Experiment
from engine.measure.league import Entry
from engine.simulate.run import Run
from engine.workload import MAX_MEMORY

MORE_MEMORY = 1.25
MORE_SKIP = 5
WORTH_SAYING = 0.01  # of the mean latency


def what_next(best: Entry, experiment: Experiment) -> list[str]:
    """Sentences on what other settings would do to the best run's mean latency.

    Tries a quarter more memory, a replica more and, where the policy has it, a wider walk.
    The runs must cover the same requests, or their means would not compare.

    Parameters
    ----------
    best : the run and its numbers
    experiment : of which it is a run
    """
    choice, deployment, workload = best.choice, experiment.deployment, experiment.workload
    larger = math.ceil(MORE_MEMORY * deployment.memory)
    sentences = []
    if larger <= MAX_MEMORY:
        more = replace(deployment, memory=larger).run(choice, workload)
        sentences.append(_effect(best, more, f"A quarter more memory ({wording.tokens(larger)})"))
    topology = deployment.topology
    if not topology.pools and not workload.concurrency:
        wider = replace(topology, replicas=topology.replicas + 1)
        more = deployment.with_servers(wider).run(choice, workload)
        sentences.append(_effect(best, more, f"One more replica ({wider.replicas} in all)"))
    if deployment.inside(choice).values.get("skip") == 0:  # in engines nobody can be passed over
        patient = deployment.run(choice.changed(skip=MORE_SKIP), workload)
        sentences.append(
            _effect(best, patient, f"Letting {best.label} pass over {MORE_SKIP} blocked requests")
        )
    return [sentence for sentence in sentences if sentence]


def _effect(best: Entry, changed: Run, change: str) -> str:
    more = len(changed.workload) - len(best.run.workload)
    if more:
        many = "more" if more > 0 else "fewer"
        return f"{change} would let {wording.count(abs(more))} {many} requests be served."
    mean = float(changed.latency.mean())
    saved = 1 - mean / best.mean
    if abs(saved) < WORTH_SAYING:
        return f"{change} would change the mean latency by less than 1\u202f%."
    verb = "cut" if saved > 0 else "raise"
    return (
        f"{change} would {verb} the mean latency by {wording.percent(abs(saved))}, "
        f"to {wording.amount(mean, best.run.unit)}."
    )
