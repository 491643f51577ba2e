"""What to change next: each suggestion is a simulation of the change, not a rule of thumb."""

from __future__ import annotations

import math
from dataclasses import replace

from engine import wording
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.measure.league import Entry
from engine.policy import Policy
from engine.simulate.run import Run
from engine.workload import MAX_MEMORY, Workload

MORE_MEMORY = 1.25
MORE_SKIP = 5
WORTH_SAYING = 0.01  # of the mean latency


def what_next(
    policy: Policy,
    best: Entry,
    workload: Workload,
    clock: Clock = ROUNDS,
    topology: Topology = ONE_SERVER,
) -> list[str]:
    """Sentences on what other settings would do to the best run's mean latency.

    Tries a quarter more memory, a replica more and, where the policy has it, a wider walk.
    The runs must cover the same requests, or their means would not compare.
    """
    params, memory = best.run.params, best.run.memory
    larger = math.ceil(MORE_MEMORY * memory)
    told = []
    if larger <= MAX_MEMORY:
        more = topology.run(policy, workload, larger, clock=clock, **params)
        told.append(_effect(best, more, f"A quarter more memory ({wording.tokens(larger)})"))
    if not topology.pools and not workload.concurrency:
        wider = replace(topology, replicas=topology.replicas + 1)
        more = wider.run(policy, workload, memory, clock=clock, **params)
        told.append(_effect(best, more, f"One more replica ({wider.replicas} in all)"))
    if params.get("skip") == 0:
        patient = topology.run(
            policy, workload, memory, clock=clock, **{**params, "skip": MORE_SKIP}
        )
        told.append(
            _effect(best, patient, f"Letting {best.label} pass over {MORE_SKIP} blocked requests")
        )
    return [sentence for sentence in told if sentence]


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
