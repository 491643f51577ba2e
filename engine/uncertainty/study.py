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
from engine.bound_method import find_method
from engine.demand.generate import generate
from engine.demand.predictions import EXACT, Predictions, with_predictions
from engine.demand.source import Source, how_many
from engine.errors import Livelock
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.measure.overload import verdict
from engine.policy import POLICIES, Policy
from engine.progress import Progress, silent
from engine.simulate.predicted_lengths import COST
from engine.simulate.run import Run
from engine.uncertainty.axis import MARGIN, Axis
from engine.workload import Workload, set_aside

SEEDS = 10
DEAR = 0.5  # seconds a run: a policy that takes longer is left out
READING = 7e-4  # seconds that the numbers of a run take

Pick = tuple[str, tuple[tuple[str, float], ...]]  # a policy's key and its parameters


def takes_margin(policy: str) -> bool:
    """Whether a policy has a margin to set."""
    return any(param.name == MARGIN for param in POLICIES[policy].params)


@dataclass(frozen=True, eq=False)
class Study:
    """What is varied about what.

    Attributes
    ----------
    source : a scenario, or requests
    memory : M of each server, tokens
    picks : the policies, with their parameters
    axis : what is varied
    model : the predictions where the axis does not decide them
    """

    source: Source
    memory: int
    picks: tuple[Pick, ...]
    axis: Axis
    model: Predictions = EXACT
    clock: Clock = ROUNDS
    topology: Topology = ONE_SERVER

    @property
    def requests(self) -> int:
        """How many requests there are, roughly where a horizon decides."""
        return how_many(self.source)

    @property
    def affordable(self) -> tuple[Pick, ...]:
        """The picks whose runs do not take too long."""
        n = self.requests
        return tuple(p for p in self.picks if self.topology.cost(POLICIES[p[0]], n) <= DEAR)

    @property
    def seconds(self) -> float:
        """How long a draw takes, roughly."""
        n = self.requests
        each = [
            (self.topology.cost(POLICIES[key], n) + READING + COST * n)
            * (len(self.axis.values) if self.concerns(POLICIES[key]) else 1)
            for key, _ in self.affordable
        ]
        return sum(each) + 1e-5 * n

    def concerns(self, policy: Policy) -> bool:
        """Whether the policy's runs differ along the axis."""
        return takes_margin(policy.key) if self.axis.key == MARGIN else policy.uses_lengths

    def truth(self, seed: int) -> Workload:
        """The requests of a draw; those that were given are always the same."""
        if isinstance(self.source, Workload):
            return with_predictions(self.source, EXACT)
        return generate(replace(self.source, seed=seed, predict=EXACT))


@dataclass(frozen=True, eq=False)
class PolicyCurve:
    """One policy in one draw, by value of the axis: (values,) each, NaN where it cannot end.

    Attributes
    ----------
    policy : its key
    latency : mean end-to-end latency, clock units
    preemptions : how often KV cache was given up
    wasted : tokens prefilled or generated a second time
    gap : total latency over the clairvoyant bound; NaN where none covers the run
    overloaded : bool, where latencies grow with the horizon
    """

    policy: str
    latency: np.ndarray
    preemptions: np.ndarray
    wasted: np.ndarray
    gap: np.ndarray
    overloaded: np.ndarray


@dataclass(frozen=True, eq=False)
class Draw:
    """The lines of one draw, by the label of the policy."""

    values: tuple[float, ...]
    lines: dict[str, PolicyCurve]
    requests: int


def draw(study: Study, seed: int, progress: Progress = silent) -> Draw:
    """Run every affordable policy at every value, on the requests and errors of one seed.

    Raises
    ------
    InputError
        Where no request fits in M, or a topology does not take a policy.
    """
    values, picks = study.axis.values, study.affordable
    truth, _ = set_aside(study.truth(seed), study.memory)
    key = "fluid" if study.clock.is_rounds else "srpt"
    servers = study.topology.servers
    bounds = find_method(key).bounds(
        truth, study.memory, clock=study.clock, replicas=servers
    ) if not truth.depends_on_run else []  # fmt: skip
    rows: dict[Pick, list] = {pick: [] for pick in picks}
    for done, value in enumerate(values):
        progress(done / len(values), f"{study.axis.key} {value:g}")
        guessed = with_predictions(truth, study.axis.model(value, study.model), seed)
        for pick in picks:
            if done == 0 or study.concerns(POLICIES[pick[0]]):
                rows[pick].append(_row(study, guessed, pick, value, bounds))
    lines = {
        POLICIES[key].label(dict(params)): _line(key, rows[key, params], len(values))
        for key, params in picks
    }
    return Draw(values, lines, len(truth))


def _row(study: Study, workload: Workload, pick: Pick, value: float, bounds) -> tuple | None:
    key, params = pick
    given = dict(params)
    if study.axis.key == MARGIN and study.concerns(POLICIES[key]):
        given[MARGIN] = value
    try:
        run = study.topology.run(POLICIES[key], workload, study.memory, clock=study.clock, **given)
    except Livelock:
        return None
    return _numbers(run, bounds)


def _numbers(run: Run, bounds: Sequence[Bound]) -> tuple:
    found = gap(run, bounds)
    return (
        float(run.latency.mean()),
        int(run.preemptions.sum()),
        int(run.recomputed.sum()),
        np.nan if found is None else found,
        verdict(run).kind == "overloaded",
    )


def _line(policy: str, rows: list, values: int) -> PolicyCurve:
    """One row for every value; a single one stands for all."""
    nothing = (np.nan, np.nan, np.nan, np.nan, True)
    told = np.array([nothing if row is None else row for row in rows], float)
    columns = np.broadcast_to(told, (values, 5)).T
    return PolicyCurve(policy, *columns[:4], columns[4] > 0)
