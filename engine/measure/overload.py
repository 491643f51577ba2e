"""Can the server carry this load? A verdict on a run, with its evidence (docs/model.md 4).

A finite run of an overloaded system has finite averages, which mean nothing: they
grow with the horizon. Two numbers tell:

- the *load*: what the requests need of the server (engine/measure/need.py), over the time until
  the last of them arrives. Above 1, nobody can keep up, or no policy with these limits;
- the *drift*: how fast the need of those who wait outside the memory grows, as a share of the
  need that arrives. A policy that leaves memory unused falls behind at a load below 1.
  Requests are weighed by need because policies that favour small ones hide an overload in a few
  large ones.

The drift is the slope of a line through the waiting need, from a tenth of the arrivals on. That
of a stable system is not 0 but noise: even at a load of exactly 1 the queue wanders as far as
what arrives does. Its deviation is taken from the requests, as if they came one by one, or
from windows of the run where these tell of bursts, whichever is more; NOISE of them are allowed.

In a run of 2,000 requests that is so much that a server which is overloaded by a tenth can look as
if it kept up. Hence two more numbers. The *queue* is how much need is late in the system
beyond the time that each request takes alone, as a share of the need that arrived from the middle
on: all that is left over is in it. The *spread* is how much the load differs from draw to
draw: 9 % for 2,000 requests of the default mix. A verdict is called certain where the queue is
within QUEUED, and a draw that is heavier by two spreads would still not need all there is. Where
it is not certain and more of the same can be drawn, engine/capacity/carried.py decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.choice import Choice
from engine.fleet import Deployment
from engine.measure.need import COMPUTE, IN_WORDS, MEMORY, PACKING, Need, largest, needs, same
from engine.proof.work.alone import time_alone
from engine.simulate.run import Run
from engine.workload import Workload

SETTLED = 0.1  # of the span in which requests arrive: what was there before says nothing
WINDOWS = 20
NOISE = 2.2  # deviations of the slope of a line through a random walk; 1.1 is one of the walk's end
LATE = (0.8, 1.0)
CAME = 0.4  # of the need, from the middle to the middle of LATE
QUEUED = 0.03
NEARLY_FULL = 0.9  # load
TOLERABLE = 0.01  # share of the requests that a server may lose and still keep up
FEW = 100  # requests: below, there is no telling
OVERLOADED = "overloaded"


@dataclass(frozen=True)
class Verdict:
    """How a run stands.

    Attributes
    ----------
    kind : `backlog` (all arrive at once), `closed loop` (its clients wait for it), `too
        short` to tell, `stable`, `saturated`, `overloaded`, or `sheds load`: it loses so many
        requests that its queue does not grow
    load : need of the requests over the time in which they arrive
    drift : share of the arriving need by which the waiting need grows, where that is beyond
        noise; else 0
    of : the resource of which the load is a share, of engine/measure/need.py
    for_all : whether no policy carries that; else a load above 1 is known to exclude only runs
        that keep all KV cache, or policies with the same limits
    unserved : share of the requests that gave up or were turned away
    queue : share of the need arriving from the middle on that was kept waiting at the end
    spread : standard deviation of the load between draws, as a share of it
    decided : whether more requests than those of the run have said so
    near : whether it is so near to what is kept up with that none can say
    """

    kind: str
    load: float = 0.0
    drift: float = 0.0
    of: str = MEMORY
    unserved: float = 0.0
    queue: float = 0.0
    spread: float = 0.0
    decided: bool = False
    near: bool = False
    for_all: bool = True

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
        if self.near:
            return False
        return self.decided or not self.is_steady or (self.queue <= QUEUED and heavy <= 1)

    @property
    def need(self) -> str:
        """The load in words: at least 167 % of the GPU's time, as work is a lower bound of it."""
        at_least = "at least " if self.of == COMPUTE else ""
        return f"{at_least}{wording.percent(self.load)} of {IN_WORDS[self.of]}"

    @property
    def _who_carries(self) -> str:
        """Whom a load above 1 excludes."""
        if self.for_all:
            return "No policy carries that"
        if self.of == PACKING:
            return "No policy that keeps all KV cache carries that"
        return "No order of the requests helps"

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
        if self.kind != OVERLOADED:
            return f"{self.kind.capitalize()}: the requests need {need}."
        if self.load > 1:
            return (
                f"Overloaded: the requests need {need}. {self._who_carries}; the queue falls "
                "behind and latencies grow with the horizon."
            )
        left = ""
        if self.drift:
            left = f"Of the work that arrives, {wording.percent(self.drift)} is left over, so its "
        return (
            f"Overloaded: this policy falls behind. {left or 'Its '}queue and its latencies grow "
            f"with the horizon. With nothing wasted, the requests would need {need}: a policy "
            "that packs them better may keep up."
        )


def verdict(run: Run) -> Verdict:
    """Judge one run by its load and by the drift of the need that waits."""
    workload = run.workload
    span = float(np.ptp(workload.arrival))
    unserved = len(run.unserved) / run.offered
    if unserved > TOLERABLE:
        return Verdict("sheds load", unserved=unserved)
    if workload.concurrency:
        return Verdict("closed loop")
    if span == 0:
        return Verdict("backlog")
    if len(workload) < FEW:
        return Verdict("too short")
    known = _needs_of(run)
    need = largest(known)
    load = _load(need, span, run.replicas)
    drift = _drift(run, need)
    keeps_up = "saturated" if load > NEARLY_FULL else "stable"
    return Verdict(
        OVERLOADED if load > 1 or drift > 0 else keeps_up,
        load,
        drift,
        need.of,
        unserved,
        _queue(run, need.amounts),
        spread=float(np.sqrt((need.amounts**2).sum()) / need.amounts.sum()),
        for_all=any(n.is_any_policys and _load(n, span, run.replicas) > 1 for n in known),
    )


def need_of(run: Run) -> Need:
    """What the requests of a run need of the resource that they need most."""
    return largest(_needs_of(run))


def _needs_of(run: Run) -> list[Need]:
    keeps = not run.gave_up_kv
    return needs(run.workload, run.memory, run.clock, Choice.that_made(run), keeps)


def _load(need: Need, span: float, servers: int) -> float:
    return float(need.amounts.sum() / (span * servers))


def too_much(workload: Workload, deployment: Deployment) -> Verdict | None:
    """The verdict that holds for every policy, without a run: need above all there is.

    Parameters
    ----------
    workload : of requests that each fit in M
    """
    span = float(np.ptp(workload.arrival))
    if span == 0 or len(workload) < FEW or workload.concurrency:
        return None
    engine = deployment.engine
    clock, memory = deployment.clock, engine.whole_blocks(deployment.memory)
    need = largest(needs(engine.in_memory(workload, clock), memory, clock))
    load = _load(need, span, deployment.servers)
    return Verdict(OVERLOADED, load, of=need.of) if load > 1 else None


def _drift(run: Run, need: Need) -> float:
    """The slope of the waiting need over the rate at which need arrives; 0 within noise."""
    arrival = run.workload.arrival
    first, span = float(arrival.min()), float(np.ptp(arrival))
    edges = first + span * np.linspace(0, 1, WINDOWS + 1)
    came = np.histogram(arrival, edges, weights=need.amounts)[0]
    noise = NOISE * np.sqrt(max((need.amounts**2).sum(), WINDOWS * came.var(ddof=1)))
    waiting = need_waiting(run, need, edges)
    settled = int(SETTLED * WINDOWS)
    middles = (np.arange(settled, WINDOWS) + 0.5) / WINDOWS
    grown = float(np.polyfit(middles, waiting[settled:], 1)[0])
    return grown / float(came.sum()) if grown > noise else 0.0


def need_waiting(run: Run, need: Need, edges: np.ndarray) -> np.ndarray:
    """(k,) need of those in the queues of all servers, averaged over windows with k + 1 edges.

    Who has come, is not finished and holds no memory waits. Reckoned as `need` was, which may be
    of other requests.
    """
    return np.sum([_waiting(part, need, edges) for part in run.parts], axis=0)


def _waiting(part: Run, need: Need, edges: np.ndarray) -> np.ndarray:
    """The same of one server."""
    workload = part.workload
    known = needs(workload, part.memory, part.clock, Choice.that_made(part), not part.gave_up_kv)
    amounts = same(known, need).amounts
    held = part.residencies
    inside = need_between(workload.arrival, part.finished_at, amounts, edges)
    begun, ended = part.begins(held.begin), part.ends(held.end)
    return inside - need_between(begun, ended, amounts[held.request], edges)


def _queue(run: Run, need: np.ndarray) -> float:
    workload = run.workload
    first, span = float(workload.arrival.min()), float(np.ptp(workload.arrival))
    alone = workload.output if run.clock.is_rounds else time_alone(workload, run.clock.step).total
    unhindered = np.minimum(workload.arrival + alone, run.finished_at)
    late = first + span * np.array(LATE)
    (waits,) = need_between(unhindered, run.finished_at, need, late)
    return waits / float((need * CAME).sum())


def need_between(since, until, need: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(k,) need of those between two of their moments, averaged over windows with k+1 edges.

    The need that has begun, integrated up to each edge, less the one that has ended.
    """
    return np.diff(_integral(since, need, edges) - _integral(until, need, edges)) / np.diff(edges)


def _integral(moment, need: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(k+1,) of the sum of need * max(0, edge - moment) at each edge."""
    moment = np.asarray(moment, float)
    before = np.searchsorted(edges, moment, side="right")  # edges that are not after it
    windows = len(edges) + 1
    summed = np.cumsum(np.bincount(before, need, windows))[:-1]
    weighed = np.cumsum(np.bincount(before, need * moment, windows))[:-1]
    return edges * summed - weighed
