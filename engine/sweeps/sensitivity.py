"""How the gaps change with the memory, the number of requests and the mix.

Each point is an experiment of its own: the requests drawn anew from the changed scenario
(the same seed, so that only what was changed differs; engine/demand/generate.py), every policy run
on them, and a bound of their own computed. Nothing is interpolated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine import wording
from engine.bound import gap
from engine.bound_method import default_method, find_method
from engine.choice import Choice
from engine.demand.scenario import MAX_REQUESTS, Scenario
from engine.experiment import Experiment
from engine.progress import Progress, silent

MEMORY_FACTORS = (0.5, 0.75, 1.0, 1.5, 2.0)
SIZE_FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0)
SHARES = (0, 25, 50, 75, 100)  # per cent
PRICED = 20_000  # requests: above, the fluid bound is as good and quicker
BOUND_SECONDS = 1.0  # a point, for the price bound
DEAR = 5.0  # seconds: a policy that takes longer for a point is left out


@dataclass(frozen=True)
class Situation:
    """One experiment of a series, with the value of what is varied."""

    value: float
    experiment: Experiment


@dataclass(frozen=True)
class Series:
    """What is varied, as a title with its unit, and the experiments.

    Attributes
    ----------
    varies : `memory`, `size` or `share`
    title : with the unit
    present : the value it has now
    situations : by ascending value
    """

    varies: str
    title: str
    present: float
    situations: tuple[Situation, ...]

    @property
    def by_factor(self) -> bool:
        """Whether the values are multiples of one another rather than steps."""
        return self.varies != "share"


@dataclass(frozen=True)
class GapReading:
    """One policy in one experiment: its gap (None without a covering bound)."""

    policy: str
    gap: float | None


@dataclass(frozen=True)
class Point:
    """The outcome of one experiment.

    Attributes
    ----------
    value : of what is varied
    requests, set_aside : how many ran, and how many need more than M
    readings : by the label of the run
    """

    value: float
    requests: int
    set_aside: int
    readings: Mapping[str, GapReading]

    @property
    def nearest(self) -> tuple[str, float] | None:
        """The label and gap of the run nearest to its bound."""
        known = {name: r.gap for name, r in self.readings.items() if r.gap is not None}
        return min(known.items(), key=lambda item: item[1]) if known else None


def series_of(experiment: Experiment) -> list[Series]:
    """Every series that has more than one situation: requests that are given have but M to vary."""
    every = [_vary_memory(experiment)]
    if isinstance(experiment.source, Scenario):
        every += [_vary_size(experiment, experiment.source)]
        every += [_vary_share(experiment, experiment.source)]
    return [series for series in every if len(series.situations) > 1]


def _vary_memory(experiment: Experiment) -> Series:
    """The same requests in half to twice the memory, as far as one of them fits."""
    deployment = experiment.deployment
    least = int(experiment.workload.peak.min())
    values = sorted({max(least, round(factor * deployment.memory)) for factor in MEMORY_FACTORS})
    drawn = replace(experiment, source=experiment.workload)  # drawn once for all
    situations = tuple(
        Situation(m, replace(drawn, deployment=replace(deployment, memory=m))) for m in values
    )
    return Series("memory", "KV-cache memory M (tokens)", deployment.memory, situations)


def _vary_size(experiment: Experiment, scenario: Scenario) -> Series:
    """An eighth of the requests to twice as many; of the horizon, where that decides."""
    name = "n" if scenario.horizon is None else "horizon"
    present = getattr(scenario, name)
    values = [factor * present for factor in SIZE_FACTORS]
    if name == "n":
        values = sorted({min(MAX_REQUESTS, max(1, round(value))) for value in values})
    title = "requests" if name == "n" else "horizon"
    scenarios = {value: replace(scenario, **{name: value}) for value in values}
    return Series("size", title, present, _situations(experiment, scenarios))


def _vary_share(experiment: Experiment, scenario: Scenario) -> Series:
    """From none of the first class to nothing else; the mix must have two classes."""
    (first, share), (second, _) = scenario.mix
    present = round(100 * share)
    scenarios: dict[float, Scenario] = {
        value: replace(scenario, mix=((first, value / 100), (second, 1 - value / 100)))
        for value in sorted({*SHARES, present})
    }
    title = f"share of {first} (%)"
    return Series("share", title, present, _situations(experiment, scenarios))


def _situations(
    experiment: Experiment, scenarios: Mapping[float, Scenario]
) -> tuple[Situation, ...]:
    return tuple(
        Situation(value, replace(experiment, source=scenario))
        for value, scenario in scenarios.items()
    )


def affordable(experiment: Experiment, n: int) -> list[Choice]:
    """The policies that a point of n requests can afford."""
    return [
        choice for choice in experiment.choices if experiment.deployment.seconds(choice, n) <= DEAR
    ]


def seconds(series: Series) -> float:
    """How long all points of a series take, roughly."""
    return sum(_point_seconds(situation.experiment) for situation in series.situations)


def _point_seconds(experiment: Experiment) -> float:
    n = experiment.requests
    runs = sum(experiment.deployment.seconds(choice, n) for choice in affordable(experiment, n))
    return BOUND_SECONDS + 2e-6 * n + runs


def gaps_at(situation: Situation, progress: Progress = silent) -> Point:
    """Run the policies in one situation, each against the best bound that covers it.

    Those that are too dear for so many requests are left out.
    """
    experiment = situation.experiment
    workload, deployment = experiment.workload, experiment.deployment
    fit = int((workload.peak <= deployment.room).sum())
    if fit == 0:
        return Point(situation.value, 0, len(workload), {})
    choices = affordable(experiment, fit)
    steps = len(choices) + 1

    def step(number: int) -> Progress:
        return lambda share, what="": progress((number + share) / steps, what)

    method = find_method("prices") if fit <= PRICED else default_method(deployment.clock)
    bounds = deployment.bounds(method, workload, BOUND_SECONDS, step(0))
    readings = {}
    for number, choice in enumerate(choices, start=1):
        run = experiment.run(choice, step(number))
        readings[choice.label] = GapReading(choice.key, gap(run, bounds))
        progress((number + 1) / steps)
    return Point(situation.value, fit, len(workload) - fit, readings)


def series_in_words(points: Sequence[Point]) -> str:
    """Who is nearest to the bound at either end of a series."""
    known = [(point.value, point.nearest) for point in points if point.nearest]
    if not known:
        return "No bound covers any of these runs."
    (least, (first, low)), (most, (last, high)) = known[0], known[-1]
    begin = f"At {wording.number(least)}, **{first}** is nearest: {wording.gap(low)}"
    if len(known) == 1:
        return f"{begin}."
    who = "it still is" if last == first else f"**{last}** is"
    return f"{begin}; at {wording.number(most)}, {who}: {wording.gap(high)}."
