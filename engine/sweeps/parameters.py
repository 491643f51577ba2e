"""What can be varied about an experiment: memory, rate, mix, number, servers, a policy's parameter.

Each makes one experiment into another and changes nothing else. With the same seed the requests
differ only in what is varied (engine/demand/generate.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from engine.demand.predictions import EXACT, Interval, LognormalError, Predictions, with_predictions
from engine.demand.scenario import MAX_REQUESTS, RANGES, Scenario
from engine.errors import InputError
from engine.experiment import Experiment
from engine.fields import number_in
from engine.policy_parameters import Param
from engine.sweeps.tradeoff import USUAL
from engine.workload import MAX_MEMORY, Workload

WIDE = 1000  # a range of a parameter, above which only its lower part is offered at first
MOST_SERVERS = 100
ROOM = 1.5  # how far beyond a value that matters a range goes


@dataclass(frozen=True)
class Parameter:
    """One thing that can be varied.

    Attributes
    ----------
    name : as users type it: memory, rate, share, n, replicas, or a policy's `vllm.watermark`
    title : with its unit
    low, high : the closed range of its values
    whole : takes whole numbers only
    present : the experiment's value
    usual : the lower and upper end of what is worth a look
    by_factor : steps are multiples of one another
    set_to : (experiment, value) -> the changed experiment
    """

    name: str
    title: str
    low: float
    high: float
    whole: bool
    present: float
    usual: tuple[float, float]
    by_factor: bool
    set_to: Callable[[Experiment, float], Experiment]

    def read(self, value: float) -> float:
        """`value` where it is in range; InputError otherwise."""
        return number_in(self.name, value, self.low, self.high, whole=self.whole)

    def spanning(self, values: Iterable[float]) -> Parameter:
        """The same with its usual range widened to hold these values, with room around."""
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
    """What can be varied about an experiment, by name."""
    parameters = [_memory(experiment), *_of_requests(experiment), *_of_predictions(experiment)]
    if not experiment.deployment.topology.pools and not experiment.source.concurrency:
        parameters.append(_replicas(experiment))
    for number, choice in enumerate(experiment.choices):
        parameters += [_param(experiment, number, param) for param in choice.policy.params]
    return {parameter.name: parameter for parameter in parameters}


def find_parameter(experiment: Experiment, name: str) -> Parameter:
    """The parameter called `name`; InputError names the ones there are."""
    parameters = parameters_of(experiment)
    if name not in parameters:
        raise InputError(f"unknown knob {name}: choose from {', '.join(parameters)}")
    return parameters[name]


Setting = tuple[tuple[str, float], ...]  # names of parameters, and their values


def varied(experiment: Experiment, setting: Setting) -> Experiment:
    """The experiment with several parameters set, each as the experiment itself has it."""
    parameters = parameters_of(experiment)
    changed = experiment
    for name, value in setting:
        changed = parameters[name].set_to(changed, value)
    return changed


def _memory(experiment: Experiment) -> Parameter:
    def set_to(experiment: Experiment, value: float) -> Experiment:
        deployment = replace(experiment.deployment, memory=int(value))
        return replace(experiment, deployment=deployment)

    present = experiment.deployment.memory
    usual = (max(1, present // 2), min(MAX_MEMORY, 2 * present + 1))
    return Parameter("memory", "M (tokens)", 1, MAX_MEMORY, True, present, usual, True, set_to)


def _of_requests(experiment: Experiment) -> Iterable[Parameter]:
    source = experiment.source
    if isinstance(source, Workload):
        span = float(np.ptp(source.arrival))
        if span > 0 and not source.concurrency:
            yield _rate(experiment, (len(source) - 1) / span)
        return
    if source.arrivals != "backlog" and not source.concurrency:
        yield _rate(experiment, source.rate)
    if len(source.mix) == 2:
        yield _share(source)
    if source.horizon is None:
        yield _number(source)


def _rate(experiment: Experiment, present: float) -> Parameter:
    def set_to(experiment: Experiment, value: float) -> Experiment:
        source = experiment.source
        if isinstance(source, Scenario):
            return replace(experiment, source=replace(source, rate=value))
        arrival = source.arrival.min() + (source.arrival - source.arrival.min()) * (present / value)
        return replace(experiment, source=replace(source, arrival=arrival))

    low, high, _ = RANGES["rate"]
    step = experiment.deployment.unit.removesuffix("s")
    usual = (max(low, present / 2), min(high, present * 2))
    title = f"arrivals a {step}"
    return Parameter(
        "rate", title, min(low, present), max(high, present), False, present, usual, True, set_to
    )


def _share(source: Scenario) -> Parameter:
    (first, share), (second, _) = source.mix

    def set_to(experiment: Experiment, value: float) -> Experiment:
        mix = ((first, value / 100), (second, 1 - value / 100))
        return _redrawn(experiment, mix=mix)

    title = f"share of {first} (%)"
    return Parameter("share", title, 0, 100, True, round(100 * share), (0, 100), False, set_to)


def _number(source: Scenario) -> Parameter:
    def set_to(experiment: Experiment, value: float) -> Experiment:
        return _redrawn(experiment, n=int(value))

    present = source.requests
    usual = (max(1, present // 8), min(MAX_REQUESTS, 2 * present))
    return Parameter("n", "requests", 1, MAX_REQUESTS, True, present, usual, True, set_to)


def _redrawn(experiment: Experiment, **changed: Any) -> Experiment:
    """The experiment with other fields of its scenario."""
    return replace(experiment, source=replace(cast(Scenario, experiment.source), **changed))


def _of_predictions(experiment: Experiment) -> Iterable[Parameter]:
    """How wrong predicted outputs are: each makes predictions of its own kind."""
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
    def set_to(experiment: Experiment, value: float) -> Experiment:
        source = experiment.source
        if isinstance(source, Scenario):
            return replace(experiment, source=replace(source, predict=kind(value)))
        return replace(experiment, source=with_predictions(source, kind(value)))

    return set_to


def _replicas(experiment: Experiment) -> Parameter:
    def set_to(experiment: Experiment, value: float) -> Experiment:
        topology = replace(experiment.deployment.topology, replicas=int(value))
        return replace(experiment, deployment=experiment.deployment.with_servers(topology))

    present = experiment.deployment.topology.replicas
    usual = (1, max(8, 2 * present))
    return Parameter("replicas", "replicas", 1, MOST_SERVERS, True, present, usual, False, set_to)


def _param(experiment: Experiment, number: int, param: Param) -> Parameter:
    """That of one of the policies; the others stay as they are."""
    choice = experiment.choices[number]

    def set_to(experiment: Experiment, value: float) -> Experiment:
        choices = list(experiment.choices)
        choices[number] = choices[number].changed(**{param.name: value})
        return experiment.choosing(choices)

    title = f"{choice.key}: {param.name.replace('_', ' ')}"
    present = choice.values[param.name]
    usual = _usual(param)
    by_factor = param.is_whole and usual[0] > 0
    return Parameter(
        f"{choice.key}.{param.name}", title, param.low, param.high, param.is_whole, present, usual,
        by_factor, set_to,
    )  # fmt: skip


def _usual(param: Param) -> tuple[float, float]:
    if param.name in USUAL:
        tried = USUAL[param.name]
        return max(param.low, tried[0]), min(param.high, tried[-1])
    if param.high - param.low <= WIDE:
        return param.low, param.high
    return param.low, min(param.high, max(4 * param.default, param.low + 8))
