"""What can be turned about an experiment: memory, rate, mix, number, servers, a parameter.

A knob makes one experiment into another and changes nothing else. With the same seed the
requests differ only in what the knob speaks of (engine/demand/generate.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.demand.predictions import EXACT, Interval, LognormalError, Predictions, with_predictions
from engine.demand.scenario import MAX_REQUESTS, RANGES, Scenario
from engine.demand.source import Source, how_many, requests_of
from engine.errors import InputError
from engine.fields import number_in
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.policy import find_policy
from engine.policy_parameters import Param
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.sweeps.tradeoff import USUAL
from engine.workload import MAX_MEMORY, Workload

Pick = tuple[str, tuple[tuple[str, float], ...]]  # a policy's key and its parameters

WIDE = 1000  # a range of a parameter, above which only its lower part is offered at first
MOST_SERVERS = 100
ROOM = 1.5  # how far beyond a value that matters a range goes


@dataclass(frozen=True, eq=False)
class Experiment:
    """Everything that a run depends on.

    Attributes
    ----------
    source : a scenario, or requests
    memory : M of each server, tokens
    picks : the policies, with their parameters
    """

    source: Source
    memory: int
    picks: tuple[Pick, ...]
    clock: Clock = ROUNDS
    topology: Topology = ONE_SERVER

    @cached_property
    def workload(self) -> Workload:
        return requests_of(self.source)

    @property
    def requests(self) -> int:
        """How many requests there are, roughly where a horizon decides."""
        return how_many(self.source)

    @property
    def seconds(self) -> float:
        """How long its runs take, roughly."""
        n = self.requests
        return sum(self.topology.cost(find_policy(key), n) for key, _ in self.picks)

    def run(self, pick: Pick, progress: Progress = silent) -> Run:
        """The run of one of the policies."""
        key, params = pick
        return self.topology.run(
            find_policy(key), self.workload, self.memory, progress, self.clock, **dict(params)
        )


@dataclass(frozen=True)
class Parameter:
    """One thing that can be turned.

    Attributes
    ----------
    name : as users type it: memory, rate, share, n, replicas, or a policy's `vllm.watermark`
    title : with its unit
    low, high : the closed range in which it can stand
    whole : takes whole numbers only
    now : where it stands
    usual : the lower and upper end of what is worth a look
    by_factor : steps are multiples of one another
    turn : (experiment, value) -> the changed experiment
    """

    name: str
    title: str
    low: float
    high: float
    whole: bool
    now: float
    usual: tuple[float, float]
    by_factor: bool
    turn: Callable[[Experiment, float], Experiment]

    def read(self, value: float) -> float:
        """`value` where the knob can stand there; InputError otherwise."""
        return number_in(self.name, value, self.low, self.high, whole=self.whole)

    def spanning(self, values: Iterable[float]) -> Parameter:
        """The same knob, what is worth a look widened to hold these values with room around."""
        known = [value for value in values if self.low <= value <= self.high]
        if not known:
            return self
        low = max(self.low, min(self.usual[0], min(known) / ROOM))
        high = min(self.high, max(self.usual[1], max(known) * ROOM))
        return replace(self, usual=(low, high))

    def values(self, count: int, low: float | None = None, high: float | None = None) -> list:
        """At most `count` values, ascending, from `low` to `high` (usual where not given)."""
        first = self.read(self.usual[0] if low is None else low)
        last = self.read(self.usual[1] if high is None else high)
        if not first < last:
            raise InputError(f"{self.name}: from {first:g} to {last:g} is no range")
        by_factor = self.by_factor and first > 0
        spaced = (np.geomspace if by_factor else np.linspace)(first, last, count)
        kept = np.rint(spaced) if self.whole else [float(f"{value:.4g}") for value in spaced]
        inside = {min(last, max(first, value)) for value in np.asarray(kept).tolist()}
        return sorted(int(value) if self.whole else value for value in inside)


def parameters_of(experiment: Experiment) -> dict[str, Parameter]:
    """The knobs that an experiment has, by name."""
    found = [_memory(experiment), *_of_requests(experiment), *_of_predictions(experiment)]
    in_loop = isinstance(experiment.source, Workload) and experiment.source.concurrency
    if not experiment.topology.pools and not in_loop:
        found.append(_replicas(experiment))
    for number, (key, _) in enumerate(experiment.picks):
        found += [_param(experiment, number, param) for param in find_policy(key).params]
    return {parameter.name: parameter for parameter in found}


def find_parameter(experiment: Experiment, name: str) -> Parameter:
    """The knob called `name`; InputError names the ones there are."""
    found = parameters_of(experiment)
    if name not in found:
        raise InputError(f"unknown knob {name}: choose from {', '.join(found)}")
    return found[name]


Turns = tuple[tuple[str, float], ...]  # the names of knobs, and where to turn each


def turned(experiment: Experiment, turns: Turns) -> Experiment:
    """The experiment with several knobs turned, each as it stands at first."""
    known = parameters_of(experiment)
    there = experiment
    for name, value in turns:
        there = known[name].turn(there, value)
    return there


def _memory(experiment: Experiment) -> Parameter:
    def turn(experiment: Experiment, value: float) -> Experiment:
        source = experiment.source
        if isinstance(source, Scenario):  # so that it is the same scenario as one set up so
            source = replace(source, memory=int(value))
        return replace(experiment, source=source, memory=int(value))

    now = experiment.memory
    usual = (max(1, now // 2), min(MAX_MEMORY, 2 * now + 1))
    return Parameter("memory", "M (tokens)", 1, MAX_MEMORY, True, now, usual, True, turn)


def _of_requests(experiment: Experiment) -> Iterable[Parameter]:
    source = experiment.source
    if isinstance(source, Workload):
        span = float(np.ptp(source.arrival))
        if span > 0 and not source.concurrency:
            yield _rate(experiment, (len(source) - 1) / span)
        return
    if source.arrivals != "backlog":
        yield _rate(experiment, source.rate)
    if len(source.mix) == 2:
        yield _share(source)
    if source.horizon is None:
        yield _number(source)


def _rate(experiment: Experiment, now: float) -> Parameter:
    def turn(experiment: Experiment, value: float) -> Experiment:
        source = experiment.source
        if isinstance(source, Scenario):
            return replace(experiment, source=replace(source, rate=value))
        arrival = source.arrival.min() + (source.arrival - source.arrival.min()) * (now / value)
        return replace(experiment, source=replace(source, arrival=arrival))

    low, high, _ = RANGES["rate"]
    each = experiment.clock.unit.removesuffix("s")
    usual = (max(low, now / 2), min(high, now * 2))
    title = f"arrivals a {each}"
    return Parameter("rate", title, min(low, now), max(high, now), False, now, usual, True, turn)


def _share(source: Scenario) -> Parameter:
    (first, share), (second, _) = source.mix

    def turn(experiment: Experiment, value: float) -> Experiment:
        mix = ((first, value / 100), (second, 1 - value / 100))
        return replace(experiment, source=replace(experiment.source, mix=mix))

    title = f"share of {first} (%)"
    return Parameter("share", title, 0, 100, True, round(100 * share), (0, 100), False, turn)


def _number(source: Scenario) -> Parameter:
    def turn(experiment: Experiment, value: float) -> Experiment:
        return replace(experiment, source=replace(experiment.source, n=int(value)))

    usual = (max(1, source.n // 8), min(MAX_REQUESTS, 2 * source.n))
    return Parameter("n", "requests", 1, MAX_REQUESTS, True, source.n, usual, True, turn)


def _of_predictions(experiment: Experiment) -> Iterable[Parameter]:
    """How wrong predicted outputs are: each turns what is predicted into its own kind."""
    source = experiment.source
    model = source.predict if isinstance(source, Scenario) else EXACT
    bias = model.bias if isinstance(model, LognormalError) else 1.0
    spread = model.spread if isinstance(model, LognormalError) else 0.0
    width = model.width if isinstance(model, Interval) else 0.0

    def error(value: float) -> Predictions:
        return LognormalError(bias, value)

    title = "prediction error (spread)"
    yield Parameter("error", title, 0, 5, False, spread, (0.0, 2.0), False, _predicting(error))
    title = "interval width of predictions"
    yield Parameter("width", title, 0, 100, False, width, (0.0, 4.0), False, _predicting(Interval))


def _predicting(kind: Callable[[float], Predictions]):
    def turn(experiment: Experiment, value: float) -> Experiment:
        source = experiment.source
        if isinstance(source, Scenario):
            return replace(experiment, source=replace(source, predict=kind(value)))
        return replace(experiment, source=with_predictions(source, kind(value)))

    return turn


def _replicas(experiment: Experiment) -> Parameter:
    def turn(experiment: Experiment, value: float) -> Experiment:
        topology = replace(experiment.topology, replicas=int(value))
        return replace(experiment, topology=topology)

    now = experiment.topology.replicas
    usual = (1, max(8, 2 * now))
    return Parameter("replicas", "replicas", 1, MOST_SERVERS, True, now, usual, False, turn)


def _param(experiment: Experiment, number: int, param: Param) -> Parameter:
    """The parameter of one pick; the other picks stay as they are."""
    key, params = experiment.picks[number]

    def turn(experiment: Experiment, value: float) -> Experiment:
        picks = list(experiment.picks)
        picks[number] = (key, tuple({**dict(params), param.name: value}.items()))
        return replace(experiment, picks=tuple(picks))

    title = f"{key}: {param.name.replace('_', ' ')}"
    now = dict(params).get(param.name, param.default)
    usual = _usual(param)
    by_factor = param.is_whole and usual[0] > 0
    return Parameter(
        f"{key}.{param.name}", title, param.low, param.high, param.is_whole, now, usual,
        by_factor, turn,
    )  # fmt: skip


def _usual(param: Param) -> tuple[float, float]:
    if param.name in USUAL:
        tried = USUAL[param.name]
        return max(param.low, tried[0]), min(param.high, tried[-1])
    if param.high - param.low <= WIDE:
        return param.low, param.high
    return param.low, min(param.high, max(4 * param.default, param.low + 8))
