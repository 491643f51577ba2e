"""Can the server carry this load? A verdict on a run, with its evidence (docs/model.md 4).

A finite run of an overloaded system has finite averages, which mean nothing: they
grow with the horizon. Two numbers tell:

- the *load*: what the requests need of the server, over the time until the last of them
  arrives. In rounds a request needs its volume of the M tokens there are in each round; in
  seconds it needs at least its work (engine/proof/work). Above 1, no policy can keep up;
- the *drift*: how much need is in the system late in the arrivals, beyond what was there
  in the middle, as a share of the need that arrived in between. A policy that leaves
  memory unused falls behind at a load below 1. Requests are weighed by need because
  policies that favour small ones hide an overload in a few large ones.

The drift of a stable system is not 0 but noise; two standard deviations of the need that
came in between are allowed. In a run of 2,000 requests that is so much that a server which is
overloaded by a tenth can look as if it kept up (measured over maps of M and rate against runs of
40,000: a quarter of the settings that 2,000 requests call carried are overloaded in seconds, 3 % in
rounds; of those that 10,000 call carried, none). Hence two more numbers. The *queue* is how much
need is late in the system beyond the time that each request takes alone, as a share of the need
that arrived from the middle on: all that is left over is in it. The *spread* is how much the load
differs from draw to draw: 9 % for 2,000 requests of the default mix. A verdict is called
certain where the queue is within the drift that is allowed, and a draw that is heavier
by two spreads would still not need all there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.fleet import Deployment
from engine.machine.clock import Clock
from engine.proof.work.alone import time_alone
from engine.proof.work.envelope import steepest, work
from engine.simulate.run import Run
from engine.workload import Workload

MIDDLE = (0.4, 0.6)  # of the span in which requests arrive
LATE = (0.8, 1.0)
FALLS_BEHIND = 0.03  # drift
NEARLY_FULL = 0.9  # load
TOLERABLE = 0.01  # share of the requests that a server may lose and still keep up
FEW = 100  # requests: below, there is no telling
OVERLOADED = "overloaded"
MEMORY, TIME = "the memory", "the GPU's time"  # what a load is a share of


@dataclass(frozen=True)
class Verdict:
    """How a run stands.

    Attributes
    ----------
    kind : `backlog` (all arrive at once), `closed loop` (its clients wait for it), `too
        short` to tell, `stable`, `saturated`, `overloaded`, or `sheds load`: it loses so many
        requests that its queue does not grow
    load : need of the requests over the time in which they arrive
    drift : share of the need arriving from the middle on that was left over, beyond noise
    of_what : what the load is a share of
    unserved : share of the requests that gave up or were turned away
    queue : share of the need arriving from the middle on that was kept waiting at the end
    spread : standard deviation of the load between draws, as a share of it
    """

    kind: str
    load: float = 0.0
    drift: float = 0.0
    of_what: str = MEMORY
    unserved: float = 0.0
    queue: float = 0.0
    spread: float = 0.0

    @property
    def keeps_up(self) -> bool:
        """Whether the server is not overloaded, also not for those who left for it."""
        return self.kind != OVERLOADED and self.unserved <= TOLERABLE

    @property
    def is_steady(self) -> bool:
        """Whether averages over this run describe more than this run."""
        return self.kind in ("stable", "saturated")

    @property
    def is_certain(self) -> bool:
        """Whether a longer run of the same would most likely have the same verdict."""
        heavy = self.load * (1 + 2 * self.spread)
        return not self.is_steady or (self.queue <= FALLS_BEHIND and heavy <= 1)

    @property
    def need(self) -> str:
        """The load in words: at least 167 % of the GPU's time, as work is a lower bound of it."""
        at_least = "at least " if self.of_what == TIME else ""
        return f"{at_least}{wording.percent(self.load)} of {self.of_what}"

    def in_words(self) -> str:
        """One sentence on what the latencies of this run mean."""
        if self.kind == "sheds load":
            lost = wording.percent(self.unserved)
            return (
                f"Sheds load: {lost} of the requests leave unserved, which keeps the queue from "
                "growing; latencies are of the others."
            )
        if self.kind == "backlog":
            return "All requests arrive at once: latency grows with their number."
        if self.kind == "closed loop":
            return "A closed loop: clients wait for their answers, so the load never grows."
        if self.kind == "too short":
            return "Too few requests to tell whether this load can be carried."
        need = f"{self.need} while they arrive"
        if self.kind == OVERLOADED and self.load > 1:
            return (
                f"Overloaded: the requests need {need}. No policy carries that; latencies grow "
                "with the horizon."
            )
        if self.kind == OVERLOADED:
            return (
                "Overloaded: this policy falls behind. Of the work that arrives, "
                f"{wording.percent(self.drift)} is left over, so its queue and its latencies grow "
                f"with the horizon. With nothing wasted, the requests would need {need}: a policy "
                "that packs them better may keep up."
            )
        return f"{self.kind.capitalize()}: the requests need {need}."


def verdict(run: Run) -> Verdict:
    """Judge one run by its load and by the drift of the volume in the system."""
    workload = run.workload
    arrival = workload.arrival
    first, span = arrival.min(), float(np.ptp(arrival))
    unserved = len(run.unserved) / run.offered
    if unserved > TOLERABLE:
        return Verdict("sheds load", unserved=unserved)
    if workload.concurrency:
        return Verdict("closed loop")
    if span == 0:
        return Verdict("backlog")
    if len(arrival) < FEW:
        return Verdict("too short")
    need = _need(workload, run.memory, run.clock)
    load = float(need.sum() / (span * run.replicas))
    drift = _drift(run, need, first, span)
    if load > 1 or drift > FALLS_BEHIND:
        kind = OVERLOADED
    else:
        kind = "saturated" if load > NEARLY_FULL or drift > 0 else "stable"
    queue = _queue(run, need, first, span)
    spread = float(np.sqrt((need * need).sum()) / need.sum())
    return Verdict(kind, load, drift, _of_what(run.clock), unserved, queue, spread)


def too_much(workload: Workload, deployment: Deployment) -> Verdict | None:
    """The verdict that holds for every policy, without a run: need above all there is.

    Parameters
    ----------
    workload : of requests that each fit in M
    """
    span = float(np.ptp(workload.arrival))
    if span == 0 or len(workload) < FEW or workload.concurrency:
        return None
    need = _need(workload, deployment.memory, deployment.clock)
    load = float(need.sum() / (span * deployment.servers))
    return Verdict(OVERLOADED, load, of_what=_of_what(deployment.clock)) if load > 1 else None


def _of_what(clock: Clock) -> str:
    return MEMORY if clock.is_rounds else TIME


def _need(workload: Workload, memory: int, clock: Clock) -> np.ndarray:
    """(n,) clock units for which each request needs the whole server, at least."""
    if clock.is_rounds:
        return workload.volume / memory
    step = clock.step
    return work(workload, memory, step, steepest(step), every_run=True).total


def _drift(run: Run, need: np.ndarray, first: float, span: float) -> float:
    middle, late = (
        _need_in_system(run, need, first + begin * span, first + end * span)
        for begin, end in (MIDDLE, LATE)
    )
    came = need * (sum(LATE) - sum(MIDDLE)) / 2
    noise = 2 * np.sqrt((came * need).sum())
    return float(max(0.0, late - middle - noise) / came.sum())


def _queue(run: Run, need: np.ndarray, first: float, span: float) -> float:
    workload = run.workload
    alone = workload.output if run.clock.is_rounds else time_alone(workload, run.clock.step).total
    unhindered = np.minimum(workload.arrival + alone, run.finished_at)
    late = first + LATE[0] * span, first + LATE[1] * span
    waits = _need_between(unhindered, run.finished_at, need, *late)
    return waits / float((need * (sum(LATE) - sum(MIDDLE)) / 2).sum())


def _need_in_system(run: Run, need: np.ndarray, begin: float, end: float) -> float:
    """Need of the requests that have arrived and not finished, averaged over [begin, end]."""
    return _need_between(run.workload.arrival, run.finished_at, need, begin, end)


def _need_between(since, until, need: np.ndarray, begin: float, end: float) -> float:
    """Need of the requests that are between two of their moments, averaged over [begin, end]."""
    inside = np.minimum(until, end) - np.maximum(since, begin)
    return float((np.maximum(inside, 0) * need).sum() / (end - begin))
