"""Each point of a series is the experiment that it says, and its gaps are those of the engine."""

import pytest
from hypothesis import given

from engine import (
    Choice,
    Deployment,
    Experiment,
    InputError,
    Scenario,
    Topology,
    Workload,
    find_method,
    gap,
    generate,
)
from engine.sweeps.sensitivity import (
    GapReading,
    Point,
    affordable,
    gaps_at,
    seconds,
    series_in_words,
    series_of,
)
from tests.twins.strategies import instances

CHOICES = (Choice("svf"), Choice("vllm"), Choice.of("svf", {"skip": 5}))


def vary(varies, source, deployment=Deployment(16_492), choices=CHOICES):  # noqa: B008
    every = series_of(Experiment(source, deployment, tuple(choices)))
    return next(series for series in every if series.varies == varies)


def values(series):
    return [situation.value for situation in series.situations]


@given(instances())
def test_memory_keeps_a_request_that_fits(instance):
    """Ascending values around M, the requests the same, and at least one runs at every point."""
    workload, memory = instance
    series = vary("memory", workload, Deployment(memory), [Choice("fcfs")])
    assert values(series) == sorted(set(values(series)))
    assert memory in values(series)
    for situation in series.situations:
        assert situation.experiment.workload is workload
        assert gaps_at(situation).requests > 0


def test_sizes():
    """An eighth to twice as many; the first requests of each are those of the others."""
    series = vary("size", Scenario(n=40))
    assert values(series) == [5, 10, 20, 40, 80]
    small, large = (series.situations[k].experiment.workload for k in (0, -1))
    assert (large.prompt[:5] == small.prompt).all()
    assert [len(situation.experiment.workload) for situation in series.situations] == values(series)
    assert values(vary("size", Scenario(n=1))) == [1, 2]


def test_horizons():
    """Where a horizon decides the number, it is what is varied."""
    series = vary("size", Scenario(n=None, horizon=1000.0, arrivals="poisson", rate=0.1))
    assert values(series) == [125, 250, 500, 1000, 2000]
    assert series.title == "horizon"
    assert series.situations[-1].experiment.requests == 200
    assert series.situations[-1].experiment.workload.arrival.max() > 1000


def test_shares():
    """From no short request to only short ones, the present share among them."""
    series = vary("share", Scenario(n=50, mix={"short": 0.8, "long": 0.2}))
    assert values(series) == [0, 25, 50, 75, 80, 100]
    assert series.present == 80
    assert (series.situations[0].experiment.workload.class_of == 1).all()
    assert (series.situations[-1].experiment.workload.class_of == 0).all()


def test_gaps_are_those_of_the_engine():
    """Each policy against the best bound that covers it, by label."""
    scenario = Scenario(n=150)
    (situation,) = [s for s in vary("size", scenario).situations if s.value == 150]
    told = []
    point = gaps_at(situation, lambda share, _text="": told.append(share))
    workload = generate(scenario)
    # The bound may differ a little, as its search is stopped by time; the fluid is below it.
    fluid = find_method("fluid").bounds(workload, 16_492)
    assert list(point.readings) == ["svf", "vllm", "svf skip=5"]
    for choice, reading in zip(CHOICES, point.readings.values(), strict=True):
        run = Deployment(16_492).run(choice, workload)
        assert 1 <= reading.gap <= gap(run, fluid)
        assert reading.policy == choice.key
    assert point.nearest == ("svf skip=5", point.readings["svf skip=5"].gap)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def test_a_report_that_raises_stops_the_work():
    """As when a user cancels."""

    def cancel(_share, _told=""):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gaps_at(vary("size", Scenario(n=16)).situations[0], cancel)


def test_a_mix_that_does_not_fit_is_an_empty_point():
    """Short requests fit in a small M, long ones do not: no error, no reading."""
    situation = vary("share", Scenario(n=20), Deployment(300)).situations[0]
    with pytest.raises(InputError):
        situation.experiment.run(Choice("svf"))
    point = gaps_at(situation)
    assert (point.requests, point.set_aside, dict(point.readings)) == (0, 20, {})
    assert point.nearest is None


def test_what_a_point_cannot_afford_is_left_out():
    """The integer program has no place in a series of large instances."""
    few = Workload([0] * 6, [2] * 6, [3] * 6)
    both = (Choice("hindsight"), Choice("svf"))
    assert affordable(Experiment(few, Deployment(10), both), 2000) == [Choice("svf")]
    series = vary("memory", few, Deployment(10))
    assert seconds(series) == pytest.approx(len(series.situations), rel=0.01)


@pytest.mark.parametrize(
    ("gaps", "says"),
    [
        ([{"a": 1.1, "b": 1.2}, {"a": 1.05, "b": 1.2}], "it still is: +5.0 %."),
        ([{"a": 1.1, "b": 1.2}, {"a": 1.3, "b": 1.2}], "at 20, **b** is: +20.0 %."),
        ([{"a": 1.1}, {"a": None}], "At 10, **a** is nearest: +10.0 %."),
        ([{"a": None}, {}], "No bound covers any of these runs."),
    ],
)
def test_in_words(gaps, says):
    """Who is nearest at either end."""
    points = [
        Point(10 * k, 5, 0, {name: GapReading("svf", g) for name, g in found.items()})
        for k, found in enumerate(gaps, start=1)
    ]
    assert says in series_in_words(points).replace("\u202f", " ")


def test_a_fleet_is_varied_as_a_fleet():
    """Two servers stay two: their runs, and the bound of the memory of both."""
    both = Deployment(8_000, topology=Topology(2))
    series = vary("memory", generate(Scenario(n=60)), both, [Choice("svf")])
    situation = next(s for s in series.situations if s.value == 8_000)
    workload = situation.experiment.workload
    run = both.run(Choice("svf"), workload)
    fluid = both.bounds(find_method("fluid"), workload)
    assert 1 <= gaps_at(situation).readings["svf"].gap <= gap(run, fluid)
