"""Generated requests: the same bytes for the same scenario, and nothing redrawn needlessly."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaincinv

from engine import InputError
from engine.demand.arrivals import ARRIVALS, arrival_times
from engine.demand.generate import generate
from engine.demand.scenario import Scenario

scenarios = st.builds(
    Scenario,
    mix=st.sampled_from([{"short": 0.8, "long": 0.2}, {"code": 1}, {"long": 1, "short": 2}]),
    n=st.integers(1, 300),
    arrivals=st.sampled_from(sorted(ARRIVALS)),
    rate=st.floats(0.01, 100),
    burstiness=st.floats(0.1, 10),
    period=st.floats(1, 1000),
    on_share=st.floats(0.05, 1),
    seed=st.integers(0, 2**32 - 1),
)


def columns(workload):
    return [workload.arrival, workload.prompt, workload.output, workload.class_of]


GOLDEN = {
    "backlog": "5af40d1e99ed07b4",
    "poisson": "15693ca69a28e1c9",
    "gamma": "31190af8addb72d7",
    "on-off": "072e73ed0b43e5cc",
}


@pytest.mark.parametrize("arrivals", GOLDEN)
def test_golden_bytes(arrivals):
    """A seed pins every byte, on every machine and with every version of numpy."""
    workload = generate(Scenario(arrivals=arrivals, seed=7))
    digest = hashlib.sha256(b"".join(column.tobytes() for column in columns(workload)))
    assert digest.hexdigest()[:16] == GOLDEN[arrivals]


@settings(max_examples=50)
@given(scenarios, st.integers(1, 300))
def test_more_requests_extend_the_same(scenario, fewer):
    """The first requests of a larger n are those of a smaller one, arrivals included."""
    fewer = min(fewer, scenario.n)
    many, few = generate(scenario), generate(replace(scenario, n=fewer))
    for longer, shorter in zip(columns(many), columns(few), strict=True):
        assert (longer[:fewer] == shorter).all()


@settings(max_examples=50)
@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 99))
def test_a_new_mix_changes_only_requests_of_a_new_class(one, other, seed):
    """Moving the slider keeps arrivals, and keeps lengths wherever it keeps the class."""
    before = Scenario(mix={"short": one, "long": 1 - one}, n=200, arrivals="poisson", seed=seed)
    a, b = generate(before), generate(replace(before, mix=(("short", other), ("long", 1 - other))))
    same = a.class_of == b.class_of
    assert (a.arrival == b.arrival).all()
    assert (a.prompt[same] == b.prompt[same]).all()
    assert (a.output[same] == b.output[same]).all()
    to_long = (a.class_of == 0) & (b.class_of == 1)
    to_short = (a.class_of == 1) & (b.class_of == 0)
    assert not (to_long if other >= one else to_short).any()


@settings(max_examples=50)
@given(st.sampled_from(["poisson", "gamma"]), st.floats(0.01, 100), st.floats(0.01, 100))
def test_a_new_rate_stretches_the_same_arrivals(arrivals, one, other):
    """arrival * rate stays, up to the rounding of arrivals; lengths stay exactly."""
    before = Scenario(n=200, arrivals=arrivals, rate=one)
    a, b = generate(before), generate(replace(before, rate=other))
    stretched = np.abs(a.arrival * one - b.arrival * other)
    assert (stretched <= 0.51e-6 * (one + other) + 1e-9).all()
    assert (a.prompt == b.prompt).all()
    assert (a.output == b.output).all()


@settings(max_examples=50)
@given(scenarios)
def test_arrivals_ascend_in_whole_millionths(scenario):
    """Never back in time, never finer than 1e-6, whatever the process."""
    arrival = generate(scenario).arrival
    assert (np.diff(arrival) >= 0).all()
    assert (arrival >= 0).all()
    assert (arrival == np.round(arrival, 6)).all()


def test_classes_are_the_keys_of_the_mix_in_its_order():
    """Also those that get no request."""
    workload = generate(Scenario(mix=(("long", 0.5), ("code", 0), ("short", 0.5)), n=500))
    assert workload.classes == ("long", "code", "short")
    assert np.bincount(workload.class_of, minlength=3)[1] == 0
    assert generate(Scenario(mix=(("short", 1), ("long", 0)), n=500)).class_of.max() == 0


def test_shares_are_met():
    """Class frequencies are within four standard deviations of the shares."""
    n = 100_000
    workload = generate(Scenario(mix={"short": 0.5, "long": 0.3, "code": 0.2}, n=n))
    share = np.bincount(workload.class_of) / n
    expected = np.array([0.5, 0.3, 0.2])
    assert (np.abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n)).all()


def test_streams_are_independent():
    """Gaps, classes, prompts and outputs of unrelated laws do not correlate."""
    n = 100_000
    short = generate(Scenario(mix={"short": 1}, n=n, arrivals="poisson"))
    gaps = np.diff(short.arrival, prepend=0)
    columns = [gaps, np.log(short.prompt), np.log(short.output)]
    correlation = np.corrcoef(columns)
    assert np.abs(correlation - np.eye(3)).max() < 4 / np.sqrt(n)


@pytest.mark.parametrize(
    ("arrivals", "burstiness", "cv"),
    [("poisson", 1, 1), ("gamma", 0.5, 0.5), ("gamma", 1, 1), ("gamma", 3, 3)],
)
def test_gaps_have_the_rate_and_the_burstiness(arrivals, burstiness, cv):
    """Mean 1/rate and the asked coefficient of variation, over 200,000 gaps."""
    scenario = Scenario(n=200_000, arrivals=arrivals, rate=0.5, burstiness=burstiness)
    gaps = np.diff(generate(scenario).arrival, prepend=0)
    assert gaps.mean() == pytest.approx(2, rel=0.03)
    assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=0.03)


@pytest.mark.parametrize("burstiness", [0.1, 0.5, 1, 2, 10])
def test_gamma_gaps_are_gamma_quantiles(burstiness):
    """The table is within 1e-3 of the true quantile; at 1 it is Poisson to the tick."""
    uniform = np.linspace(0.001, 0.999999, 4001)
    shape = 1 / burstiness**2
    scenario = Scenario(arrivals="gamma", burstiness=burstiness, rate=1)
    gaps = np.diff(arrival_times(uniform, scenario), prepend=0)
    assert gaps == pytest.approx(gammaincinv(shape, uniform) / shape, rel=1e-3, abs=2e-6)


def test_gamma_of_burstiness_one_is_poisson():
    """To the tick, also far out in the tail."""
    uniform = np.append(np.linspace(0, 0.999999, 4001), 1 - np.logspace(-15, -6, 100))
    scenario = Scenario(arrivals="gamma", burstiness=1)
    assert (
        arrival_times(uniform, scenario)
        == arrival_times(uniform, replace(scenario, arrivals="poisson"))
    ).all()


def test_extreme_draws_are_finite_gaps():
    """The smallest and the largest uniform number there is, at every burstiness."""
    for arrivals in ARRIVALS:
        for burstiness in (0.1, 1, 10):
            scenario = Scenario(arrivals=arrivals, burstiness=burstiness)
            times = arrival_times(np.array([0, 2.0**-53, 1 - 2.0**-53]), scenario)
            assert np.isfinite(times).all()
            assert (times >= 0).all()


def test_on_off_arrives_only_while_on():
    """Every arrival is in the first part of its period, and the mean rate is the asked one."""
    scenario = Scenario(n=50_000, arrivals="on-off", rate=0.1, period=500, on_share=0.2)
    arrival = generate(scenario).arrival
    assert (arrival % 500 <= 100 + 1e-6).all()
    assert len(arrival) / arrival[-1] == pytest.approx(0.1, rel=0.03)


@settings(max_examples=50)
@given(st.sampled_from(["poisson", "gamma", "on-off"]), st.floats(100, 3000), st.integers(0, 99))
def test_horizon_keeps_exactly_what_arrives_up_to_it(arrivals, horizon, seed):
    """The same requests as by n, cut at the horizon."""
    scenario = Scenario(arrivals=arrivals, rate=0.2, horizon=horizon, seed=seed, period=300)
    upto = generate(scenario)
    more = generate(replace(scenario, horizon=None, n=len(upto) + 1))
    assert (upto.arrival == more.arrival[:-1]).all()
    assert upto.arrival[-1] <= horizon < more.arrival[-1]
    assert (upto.prompt == more.prompt[:-1]).all()


def test_empty_horizon_is_one_sentence():
    """Nobody arrives: the message names both numbers."""
    with pytest.raises(InputError, match=r"no request arrives up to horizon 0\.001 at rate 0\.001"):
        generate(Scenario(arrivals="poisson", horizon=0.001, rate=0.001))


def test_default_rate_is_a_moderate_load():
    """Memory wanted over memory there is, at the default rate in rounds."""
    volume = generate(Scenario(n=200_000)).volume.mean()
    assert Scenario.rate * volume / 16_492 == pytest.approx(0.75, abs=0.02)
