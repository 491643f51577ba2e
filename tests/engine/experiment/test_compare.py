"""What compare() answers is what the single runs and bounds say."""

import numpy as np
import pytest

from engine import (
    Choice,
    Deployment,
    Experiment,
    InputError,
    Scenario,
    Topology,
    Workload,
    compare,
    find_method,
    gap,
    seconds_clock,
)
from engine.errors import Livelock
from engine.measure.metrics import METRICS
from engine.policy import POLICIES, policy

CHOICES = (Choice("vllm"), Choice("svf"), Choice("svf").changed(skip=5))
SOURCE = Scenario(n=60, arrivals="poisson", rate=0.5)
DEPLOYMENTS = {
    "rounds": Deployment(9000),
    "seconds": Deployment(9000, seconds_clock(0.02, 1e-4, 50)),
    "two servers": Deployment(9000, topology=Topology(2)),
}


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_comparison_is_its_single_runs(name):
    """Run by run and bound by bound, in the order asked."""
    experiment = Experiment(SOURCE, DEPLOYMENTS[name], CHOICES)
    comparison = compare(experiment)
    quick = find_method("srpt" if name == "seconds" else "fluid")
    bounds = experiment.deployment.bounds(quick, experiment.workload)
    assert list(comparison.runs) == list(comparison.entries) == list(CHOICES)
    assert [bound.value for bound in comparison.bounds] == [bound.value for bound in bounds]
    for choice in CHOICES:
        single = experiment.deployment.run(choice, experiment.workload)
        entry = comparison.entries[choice]
        assert np.array_equal(entry.run.latency, single.latency)
        assert entry.choice == choice
        assert entry.gap == pytest.approx(gap(single, bounds))


def test_the_league_is_in_order():
    """By ascending mean latency; the best is its first, and its table has every number."""
    comparison = compare(Experiment(SOURCE, Deployment(9000), CHOICES))
    means = [entry.mean for entry in comparison.league]
    assert means == sorted(means)
    assert comparison.best is comparison.league[0]
    assert comparison.table["mean_latency"].tolist() == means
    assert set(METRICS) <= set(comparison.table.columns)
    assert comparison.best.label in str(comparison)


def test_rows_of_requests_are_of_the_choice():
    """One row a request, those set aside included; their latencies add up to the run's."""
    workload = Workload([0, 0, 3], [4, 40, 4], [2, 2, 1])
    comparison = compare(Experiment(workload, Deployment(10), (Choice("svf"),)), [])
    rows = comparison.per_request(Choice("svf"))
    assert rows["status"].tolist() == ["finished", "set aside: needs more than M", "finished"]
    assert (rows["finish"] - rows["arrival"]).sum() == comparison.best.numbers["total_latency"]


def test_bounds_are_those_asked_for():
    """None; or several, each with all its rows."""
    experiment = Experiment(Workload([0] * 6, [2] * 6, [3] * 6), Deployment(10), CHOICES[:2])
    assert compare(experiment, []).bounds == ()
    assert compare(experiment, []).best.gap is None
    names = [bound.bound for bound in compare(experiment, ["lp", "fluid"]).bounds]
    assert names == ["lp", "lp-preemptive", "fluid"]


def test_no_bound_where_who_is_served_depends_on_the_policy():
    """Unasked there is none; asked for, that is told before anything is run."""
    experiment = Experiment(Scenario(n=30, concurrency=4), Deployment(16_492), CHOICES)
    assert compare(experiment).bounds == ()
    with pytest.raises(InputError, match="depends on the policy"):
        compare(experiment, ["fluid"], _never)


@pytest.mark.parametrize(
    ("key", "says"), [("magic", "unknown bound magic"), ("srpt", "holds in seconds only")]
)
def test_a_method_asked_for_in_vain_is_told_at_once(key, says):
    """Before anything is run."""
    with pytest.raises(InputError, match=says):
        compare(Experiment(SOURCE, Deployment(9000), CHOICES), [key], _never)


def _never(*_):
    raise AssertionError("all input is checked before anything is run")


def test_nothing_chosen_is_told():
    """There is no answer without a run."""
    with pytest.raises(InputError, match="no policy was chosen"):
        compare(Experiment(SOURCE, Deployment(9000)))


@pytest.fixture
def stuck():
    """A policy whose requests restart for ever."""

    @policy(
        key="stuck",
        title="Stuck",
        rule="Starts over.",
        source="a test",
        group="ours",
        cost=lambda n: 0.0,
    )
    def simulate(workload, memory, clock, progress):
        raise Livelock("stuck", 3, 2, "choose another")

    yield Choice("stuck")
    POLICIES.pop("stuck")


def test_a_policy_that_never_ends_leaves_the_others(stuck):
    """It has a reason instead of a run; alone, the reason is the answer."""
    experiment = Experiment(SOURCE, Deployment(9000), (stuck, CHOICES[0]))
    comparison = compare(experiment)
    assert list(comparison.runs) == [CHOICES[0]]
    assert "livelock from round 3" in comparison.failed[stuck]
    with pytest.raises(InputError, match="livelock"):
        compare(experiment.choosing([stuck]))


def test_progress_never_falls():
    """The share of all runs and bounds together, from those that report theirs."""
    shares = []
    choices = (Choice("best-found").changed(seconds=0.1), Choice("svf"))
    experiment = Experiment(Scenario(n=40), Deployment(4096), choices)
    compare(experiment, ["prices"], lambda share, what="": shares.append(share))
    assert shares == sorted(shares)
    assert shares[0] < 1 / 3 < 2 / 3 < shares[-1] <= 1
