"""The ascent reaches the LP, never passes it, and every step is a bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Scenario, find_method, find_policy, generate
from engine.proof.ascent import ascend
from engine.proof.ascent.grid import Grid, spread_knots
from engine.proof.dual import evaluate
from tests.twins.brute_force import best_total_latency
from tests.twins.strategies import instances


def climb(workload, memory, never_rising, most=400):
    run = find_policy("svf").run(workload, memory, skip=5)
    fluid = find_method("fluid").at_once(workload, memory)
    start = fluid[-1] if never_rising else fluid[0]
    steps = []
    for step in ascend(workload, memory, run, start.prices[0].by_round, never_rising):
        steps.append(step)
        if len(steps) == most:
            break
    return start, steps


@settings(max_examples=200)
@given(instances(max_n=8, max_memory=30))
def test_reaches_the_lp(instance):
    """At least 99.99 % of it on small instances, with and without arrivals, in both kinds."""
    workload, memory = instance
    lp = {bound.bound: bound.value for bound in find_method("lp").at_once(workload, memory)}
    for never_rising, name in ((False, "lp"), (True, "lp-preemptive")):
        start, steps = climb(workload, memory, never_rising)
        values = [start.value, *(step.dual.value for step in steps)]
        assert values == sorted(values)
        assert values[-1] <= lp[name] * (1 + 1e-6)
        assert values[-1] >= 0.9999 * lp[name]
        assert all(step.ceiling >= step.dual.value * (1 - 1e-6) for step in steps)
        if never_rising:
            assert all(step.dual.covers_preemption for step in steps)


@settings(max_examples=60)
@given(instances(max_n=3, max_memory=12))
def test_every_step_bounds_the_optimum(instance):
    """Stopping at any time leaves a certificate."""
    workload, memory = instance
    optimum = best_total_latency(workload, memory)
    _, steps = climb(workload, memory, never_rising=False)
    assert all(step.dual.value <= optimum + 1e-9 for step in steps)


@settings(max_examples=60)
@given(instances(max_n=6, max_memory=16))
def test_never_rising_steps_bound_preemptive_runs(instance):
    """Also those that beat every schedule without preemption."""
    workload, memory = instance
    run = find_policy("vllm").run(workload, memory)
    _, steps = climb(workload, memory, never_rising=True)
    assert all(step.dual.value <= run.latency.sum() + 1e-9 for step in steps)


@pytest.mark.parametrize("arrivals", ["backlog", "poisson"])
def test_improves_on_the_fluid_where_it_is_weak(arrivals):
    """By more than 3 % for 200 requests at once, and where requests arrive."""
    workload = generate(Scenario(n=200, arrivals=arrivals, rate=0.3))
    start, steps = climb(workload, 16_492, never_rising=False, most=30)
    assert steps[-1].dual.value > 1.03 * start.value


def test_mean_starts_are_a_mixture():
    """Each request's mean start lies between its arrival and the end of all schedules."""
    workload = generate(Scenario(n=60, arrivals="poisson", rate=0.1))
    _, steps = climb(workload, 16_492, never_rising=False)
    mean = steps[-1].mean_start
    assert (mean >= workload.arrival - 1e-6).all()
    last = find_policy("svf").run(workload, 16_492, skip=5).finish.max()
    assert mean.max() <= 2 * last


def grid_of(rounds, knots, never_rising=False):
    rng = np.random.default_rng(rounds)
    base = np.append(0.0, np.sort(rng.random(rounds))[::-1])
    finish = rng.integers(1, rounds + 1, 50)
    return Grid(base / base.sum(), spread_knots(finish, rounds, knots), never_rising)


@pytest.mark.parametrize("never_rising", [False, True])
def test_grid_charges_what_its_prices_charge(never_rising):
    """The memory weighed by hats and base, times the numbers, is the memory times the prices."""
    grid = grid_of(40, 9, never_rising)
    rng = np.random.default_rng(1)
    numbers = np.append(rng.random(len(grid.knots)), 0.7)
    start, prompt, output = np.array([0, 7, 33]), np.array([3, 1, 6]), np.array([5, 12, 20])
    held = grid.held(start, prompt, output, np.array([0, 1, 0]), 2)
    raw = grid.raw(numbers)
    for block, members in ((0, (0, 2)), (1, (1,))):
        charge = sum(
            raw[start[i] + j] * (prompt[i] + j)
            for i in members
            for j in range(1, output[i] + 1)
            if start[i] + j <= 40
        )
        assert held[block] @ numbers == pytest.approx(charge)
    assert grid.weights.sum() == pytest.approx(40)


@pytest.mark.parametrize("never_rising", [False, True])
def test_prices_keep_their_constraint(never_rising):
    """Whatever the numbers; and they are the combination itself where it is sound already."""
    grid = grid_of(60, 11, never_rising)
    rng = np.random.default_rng(2)
    for _ in range(50):
        prices = grid.prices(rng.normal(0, 1, len(grid.knots) + 1))
        assert (prices >= 0).all()
        assert not never_rising or (np.diff(prices[1:]) <= 0).all()
    sound = np.append(np.linspace(1, 0.5, len(grid.knots)), 1.0)
    assert grid.prices(sound)[1:] == pytest.approx(grid.raw(sound)[1:])
    assert len(grid.wrong_rounds(sound)) == 0
    wrong = np.append(-np.ones(len(grid.knots)), 0.0)
    assert len(grid.wrong_rounds(wrong)) > 0


def test_finer_grids_hold_the_coarser_ones():
    """So that the same prices can be written on them."""
    finish = np.random.default_rng(0).integers(1, 5000, 300)
    coarse, fine = (spread_knots(finish, 6000, count) for count in (61, 121))
    assert set(coarse) <= set(fine)


def test_prices_method_keeps_its_history():
    """Both rows, each never below the fluid's, with a rising history from there."""
    workload = generate(Scenario(n=150))
    rows = find_method("prices").bounds(workload, 16_492, time_limit=1.0)
    fluid = find_method("fluid").bounds(workload, 16_492)[0].value
    assert [row.bound for row in rows] == ["prices", "prices-preemptive"]
    assert [row.covers_preemption for row in rows] == [False, True]
    for row in rows:
        values = [value for _, value in row.history]
        assert values == sorted(values)
        assert values[0] == fluid
        assert values[-1] == row.value
        assert evaluate(workload, 16_492, row.prices[0].by_round).value == row.value
    assert rows[1].value <= rows[0].value


@pytest.mark.parametrize("arrivals", ["backlog", "poisson"])
def test_prices_are_the_same_every_time(arrivals):
    """Work is counted, not timed: not a digit differs, nor does the history."""
    workload = generate(Scenario(n=300, arrivals=arrivals, rate=0.3))
    first, second = (find_method("prices").bounds(workload, 16_492) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert (one.value, one.history) == (other.value, other.history)


@settings(max_examples=40)
@given(instances(max_n=12, max_memory=30), st.sampled_from(["prices", "lp"]))
def test_what_holds_for_every_run_holds_for_those_that_keep_their_cache(instance, key):
    """Stopped at once, the row for fewer runs is never the smaller one."""
    bounds = find_method(key).bounds(*instance, time_limit=0.001)
    assert bounds[0].value >= bounds[-1].value
