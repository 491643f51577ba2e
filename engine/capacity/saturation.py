"""What a policy serves when more arrives than it can: its work, not its requests.

Requests of the same law arrive faster than they are served, so that the queue never ends. From the
middle of the arrivals on the need that is served (engine/measure/need.py) is counted, spread
evenly over the time from each request's start to its end. Over the mean need of a request that is
the rate at which the policy saturates. The count of served requests says something else: under svf
large requests wait for good, and the small ones that are served are twice as many.

The first overload is OVERLOAD times the certified ceiling. Where a policy serves much less than
that, its choice of whom to serve is no longer that of a server near its limit (svf on a GPU
serves small requests only, which need more time than their least), so the overload is lowered until
it is MILD, or raised again where nothing waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.admission_limits import AdmissionLimits
from engine.capacity.draws import MOST_DRAWN
from engine.capacity.law import Ceiling
from engine.capacity.question import Question
from engine.choice import Choice
from engine.errors import Livelock
from engine.measure.need import MEMORY, SEQUENCES, needs, same
from engine.measure.overload import need_between
from engine.simulate.run import Run
from engine.workload import Workload

OVERLOAD = 1.05
MILD = (1.015, 1.15)  # what arrives over what is served
AIMED = 1.08
STEPS = 8  # from the first overload to a mild one
BATCHES = 10
EXACT_TO = 0.005  # standard error of a rate, as a share of it, with which more requests stop
FIRST, MORE, MOST = 10_000, 4, 40_000  # requests a server; how many times as many come next
PATIENT = 1.0  # seconds: a run that takes longer is not made longer
ALL_BUT = 0.95  # of a resource: what is needed of it then binds
FEWEST = 2_000  # requests, where those of FIRST take too long


@dataclass(frozen=True)
class Saturated:
    """One draw's answer.

    Attributes
    ----------
    rate : requests in a clock unit; 0 where the policy comes to nothing
    error : standard error of the rate, from batches of the run
    use : the share in use, by resource
    """

    rate: float
    error: float
    use: dict[str, float]


def open_to_all(workload: Workload) -> Workload:
    """The same requests, none of which gives up or is turned away."""
    longest = workload.admission_limits.max_model_len
    return replace(workload, admission_limits=AdmissionLimits(max_model_len=longest))


def lengths_of_runs(choice: Choice, question: Question) -> Iterator[int]:
    """How many requests to try, more and more, as long as a run of them is quick."""
    servers = question.deployment.servers
    n = min(FIRST * servers, MOST_DRAWN)
    while n > FEWEST and question.deployment.seconds(choice, n) > PATIENT:
        n //= 2
    yield max(n, FEWEST)
    most = min(MOST * servers, MOST_DRAWN)
    while (n := MORE * n) <= most and question.deployment.seconds(choice, n) <= PATIENT:
        yield n


def saturated(choice: Choice, question: Question, top: Ceiling, seed: int) -> Saturated:
    """The rate at which the policy saturates, from a run that is long enough."""
    offered, tried = OVERLOAD * top.rate, 0
    reached = Saturated(0.0, 0.0, {})
    for n in lengths_of_runs(choice, question):
        reached = _at(choice, question, top, offered, (seed, n))
        while reached.rate and tried < STEPS and not MILD[0] <= offered / reached.rate <= MILD[1]:
            offered = AIMED * (offered if _is_idle(reached, offered) else reached.rate)
            tried += 1
            reached = _at(choice, question, top, offered, (seed, n))
        if reached.error <= EXACT_TO * reached.rate:
            break
    return reached


def _is_idle(reached: Saturated, offered: float) -> bool:
    """Whether all that arrives is served, so that there is no telling how much could be."""
    return offered < MILD[0] * reached.rate


def _at(
    choice: Choice, question: Question, top: Ceiling, offered: float, draw: tuple[int, int]
) -> Saturated:
    """What is served of so many requests a clock unit, in a draw of (seed, requests)."""
    workload = open_to_all(question.draws.at(offered, *draw))
    try:
        run = question.run(choice, workload)
    except Livelock:
        return Saturated(0.0, 0.0, {})
    arrival = run.workload.arrival
    edges = np.linspace(np.median(arrival), arrival.max(), BATCHES + 1)
    rates = need_served(run, top, edges) / top.mean_need
    rate, error = float(rates.mean()), float(rates.std(ddof=1) / np.sqrt(BATCHES))
    return Saturated(rate, error, _use(run, top, rate))


def need_served(run: Run, top: Ceiling, edges: np.ndarray) -> np.ndarray:
    """(k,) of the need that binds, what a run served a clock unit in windows with k + 1 edges.

    Spread over the time that a request runs; where some wait in between, as after preemptions or
    between two pools, all of it when the request ends.
    """
    known = needs(run.workload, run.memory, run.clock, Choice.that_made(run), keeps_cache=True)
    amounts = same(known, top.need).amounts
    if run.gave_up_kv:
        return np.histogram(run.finished_at, edges, weights=amounts)[0] / np.diff(edges)
    lasted = run.finished_at - run.started_at
    return need_between(run.started_at, run.finished_at, amounts / lasted, edges)


def _use(run: Run, top: Ceiling, rate: float) -> dict[str, float]:
    """What is in use of each resource: at least what is needed, and what was seen in use.

    What is needed goes first: a resource of which nearly all is, binds, whatever else is full too.
    """
    use = top.shares(rate)
    if max(use.values()) >= ALL_BUT:
        return use
    workload, limits = run.workload, run.params
    window = np.array([np.median(workload.arrival), workload.arrival.max()])
    held = need_between(run.started_at, run.finished_at, workload.volume / workload.output, window)
    use[MEMORY] = max(use.get(MEMORY, 0.0), min(1.0, float(held[0]) / (run.memory * run.replicas)))
    if places := limits.get("max_num_seqs") or run.engine.max_num_seqs:
        running = need_between(run.started_at, run.finished_at, np.ones(len(workload)), window)
        use[SEQUENCES] = max(use[SEQUENCES], min(1.0, float(running[0]) / (places * run.replicas)))
    return use
