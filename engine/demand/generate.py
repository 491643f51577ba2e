"""The requests of a scenario, drawn: the same scenario gives the same bytes everywhere.

All that is ever drawn are numpy's uniform numbers, one independent stream for
arrivals, classes, prompts, outputs and predictions each; our own inverse laws turn them into
requests. Request i uses the i-th number of each stream, whatever else is in the
scenario. Hence (tests/engine/demand/test_generate.py):

- the first requests of a larger n are those of a smaller one;
- a new mix changes only the requests whose class changes;
- a new rate stretches the arrivals and changes nothing else.

Differences between two scenarios are thus differences of what was changed, not
of luck.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.demand.arrivals import arrival_times
from engine.demand.predictions import with_predictions
from engine.demand.request_class import find_class
from engine.demand.scenario import Mix, Scenario
from engine.errors import InputError
from engine.workload import Workload

ARRIVAL, CLASS, PROMPT, OUTPUT = range(4)  # the streams; new ones are added at the end


def _uniform(seed: int, stream: int, n: int) -> np.ndarray:
    return np.random.Generator(np.random.PCG64(seed).jumped(stream)).random(n)


def _arrivals_up_to(horizon: float, first: Callable[[int], np.ndarray], expected: float):
    """All arrivals up to the horizon; `first(n)` gives the first n, `expected` about how many."""
    n = int(1.1 * expected) + 100
    while (arrival := first(n))[-1] <= horizon:
        n *= 2
    return arrival[: np.searchsorted(arrival, horizon, side="right")]


def _arrivals(scenario: Scenario) -> np.ndarray:
    def first(n: int) -> np.ndarray:
        return arrival_times(_uniform(scenario.seed, ARRIVAL, n), scenario)

    if scenario.horizon is None:
        return first(scenario.requests)
    arrival = _arrivals_up_to(scenario.horizon, first, scenario.horizon * scenario.rate)
    if len(arrival) == 0:
        raise InputError(
            f"no request arrives up to horizon {scenario.horizon:g} at rate {scenario.rate:g}: "
            "raise one of them"
        )
    return arrival


def _classes(mix: Mix, uniform: np.ndarray) -> np.ndarray:
    """(n,) int64: the class whose part of [0, 1), in the order of the mix, holds each number."""
    upto = np.cumsum([share for _, share in mix])
    return np.searchsorted(upto / upto[-1], uniform, side="right")


def generate(scenario: Scenario) -> Workload:
    """The workload of a scenario; its classes are the mix's keys in the mix's order.

    Raises
    ------
    InputError
        When no request arrives up to the horizon.
    """
    arrival = _arrivals(scenario)
    n = len(arrival)
    class_of = _classes(scenario.mix, _uniform(scenario.seed, CLASS, n))
    prompt_uniform = _uniform(scenario.seed, PROMPT, n)
    output_uniform = _uniform(scenario.seed, OUTPUT, n)
    prompt, output = np.empty(n, np.int64), np.empty(n, np.int64)
    for number, (key, _) in enumerate(scenario.mix):
        members = class_of == number
        prompt[members], output[members] = find_class(key).lengths(
            prompt_uniform[members], output_uniform[members]
        )
    keys = tuple(key for key, _ in scenario.mix)
    drawn = Workload(
        arrival,
        prompt,
        output,
        class_of,
        keys,
        concurrency=scenario.concurrency,
        admission_limits=scenario.admission_limits,
    )
    return with_predictions(drawn, scenario.predict, scenario.seed)
