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
from engine.bound_method import find_method
from engine.demand.scenario import MAX_REQUESTS, Scenario
from engine.demand.source import Source, how_many, requests_of
from engine.machine.clock import ROUNDS, Clock
from engine.measure.league import label_of
from engine.policy import Policy, find_policy
from engine.progress import Progress, silent
from engine.workload import Workload

MEMORY_FACTORS = (0.5, 0.75, 1.0, 1.5, 2.0)
SIZE_FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0)
SHARES = (0, 25, 50, 75, 100)  # per cent
PRICED = 20_000  # requests: above, the fluid bound is as good and quicker
BOUND_SECONDS = 1.0  # a point, for the price bound
DEAR = 5.0  # seconds: a policy that takes longer for a point is left out


@dataclass(frozen=True, eq=False)
class Situation:
    """One experiment of a series.

    Attributes
    ----------
    value : of what is varied
    source : its requests, or what draws them
    memory : M, tokens
    """

    value: float
    source: Source
    memory: int

    @property
    def workload(self) -> Workload:
        return requests_of(self.source)

    @property
    def requests(self) -> int:
        """How many requests there are, roughly where a horizon decides."""
        return how_many(self.source)


@dataclass(frozen=True)
class Series:
    """What is varied, as a title with its unit, and the experiments.

    Attributes
    ----------
    varies : `memory`, `size` or `share`
    title : with the unit
    now : the value it has now
    situations : by ascending value
    """

    varies: str
    title: str
    now: float
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


def vary_memory(workload: Workload, memory: int) -> Series:
    """The same requests in half to twice the memory, as far as one of them fits."""
    least = int(workload.peak.min())
    values = sorted({max(least, round(factor * memory)) for factor in MEMORY_FACTORS})
    situations = tuple(Situation(m, workload, m) for m in values)
    return Series("memory", "KV-cache memory M (tokens)", memory, situations)


def vary_size(scenario: Scenario) -> Series:
    """An eighth of the requests to twice as many; of the horizon, where that decides."""
    name = "n" if scenario.horizon is None else "horizon"
    now = getattr(scenario, name)
    values = [factor * now for factor in SIZE_FACTORS]
    if name == "n":
        values = sorted({min(MAX_REQUESTS, max(1, round(value))) for value in values})
    return Series(
        "size",
        "requests" if name == "n" else "horizon",
        now,
        tuple(Situation(v, replace(scenario, **{name: v}), scenario.memory) for v in values),
    )


def vary_share(scenario: Scenario) -> Series:
    """From none of the first class to nothing else; the mix must have two classes."""
    (first, share), (second, _) = scenario.mix
    now = round(100 * share)
    values = sorted({*SHARES, now})
    situations = (
        Situation(
            v, replace(scenario, mix=((first, v / 100), (second, 1 - v / 100))), scenario.memory
        )
        for v in values
    )
    return Series("share", f"share of {first} (%)", now, tuple(situations))


def affordable(picks: Sequence[tuple[str, Mapping]], n: int) -> list[tuple[Policy, Mapping]]:
    """The picked policies, with their parameters, that a point of n requests can afford."""
    found = [(find_policy(key), params) for key, params in picks]
    return [(policy, params) for policy, params in found if policy.cost(n) <= DEAR]


def seconds(series: Series, picks: Sequence[tuple[str, Mapping]]) -> float:
    """How long all points of a series take, roughly."""
    total = 0.0
    for situation in series.situations:
        n = situation.requests
        total += (
            BOUND_SECONDS + 2e-6 * n + sum(policy.cost(n) for policy, _ in affordable(picks, n))
        )
    return total


def gaps_at(
    situation: Situation,
    picks: Sequence[tuple[str, Mapping]],
    progress: Progress = silent,
    clock: Clock = ROUNDS,
) -> Point:
    """Run the picked policies in one situation, each against the best bound that covers it.

    Parameters
    ----------
    picks : (policy key, parameters); those too dear for so many requests are left out
    """
    workload, memory = situation.workload, situation.memory
    fit = int((workload.peak <= memory).sum())
    if fit == 0:
        return Point(situation.value, 0, len(workload), {})
    policies = affordable(picks, fit)
    steps = len(policies) + 1

    def step(number: int) -> Progress:
        return lambda share, told="": progress((number + share) / steps, told)

    quick = "fluid" if clock.is_rounds else "srpt"
    method = find_method("prices" if fit <= PRICED else quick)
    bounds = method.bounds(workload, memory, step(0), BOUND_SECONDS, clock)
    readings = {}
    for number, (policy, params) in enumerate(policies, start=1):
        run = policy.run(workload, memory, step(number), clock, **params)
        readings[label_of(run)] = GapReading(policy.key, gap(run, bounds))
        progress((number + 1) / steps)
    return Point(situation.value, fit, len(workload) - fit, readings)


def series_in_words(points: Sequence[Point]) -> str:
    """Who is nearest to the bound at either end of a series."""
    known = [point for point in points if point.nearest]
    if not known:
        return "No bound covers any of these runs."
    (first, low), (last, high) = known[0].nearest, known[-1].nearest
    begin = f"At {wording.number(known[0].value)}, **{first}** is nearest: {wording.gap(low)}"
    if len(known) == 1:
        return f"{begin}."
    who = "it still is" if last == first else f"**{last}** is"
    return f"{begin}; at {wording.number(known[-1].value)}, {who}: {wording.gap(high)}."
