"""The LP bound is the optimum of the relaxation, by two solvers and by its own duals."""

import numpy as np
import pytest
from hypothesis import given, settings

from engine import InputError, Scenario, Workload, find_method, find_policy, generate
from engine.bounds import lp as lp_module
from engine.proof.dual import evaluate
from engine.proof.time_indexed import model_up_to, relaxation_by_pulp, relaxation_by_scipy
from tests.twins.brute_force import best_total_latency
from tests.twins.strategies import instances


def rows(workload, memory, method="lp"):
    return {bound.bound: bound.value for bound in find_method(method).at_once(workload, memory)}


def whole_model(workload, memory):
    latest = int(np.ceil(workload.arrival.max()) + workload.output.sum())
    return model_up_to(workload, memory, np.full(len(workload), latest))


@settings(max_examples=120)
@given(instances(max_n=6, max_memory=20))
def test_two_solvers_and_the_duals_agree(instance):
    """PuLP's optimum, SciPy's, and the dual function at the prices, in both relaxations."""
    workload, memory = instance
    model = whole_model(workload, memory)
    found = rows(workload, memory)
    for cumulative, name in ((False, "lp"), (True, "lp-preemptive")):
        by_scipy, prices = relaxation_by_scipy(model, cumulative)
        by_pulp, _ = relaxation_by_pulp(model, cumulative)
        assert by_pulp == pytest.approx(by_scipy, rel=1e-6, abs=1e-6)
        assert found[name] == pytest.approx(by_scipy, rel=1e-6, abs=1e-6)
        dual = evaluate(workload, memory, np.maximum(prices, 0))
        assert dual.value == pytest.approx(by_scipy, rel=1e-6, abs=1e-6)


@settings(max_examples=150)
@given(instances(max_n=4, max_memory=14))
def test_bounds_are_in_order(instance):
    """fluid <= lp <= optimum, fluid for every run <= lp-preemptive <= lp."""
    workload, memory = instance
    lp, fluid = rows(workload, memory), rows(workload, memory, "fluid")
    every = fluid.get("fluid-preemptive", fluid["fluid"])
    assert fluid["fluid"] <= lp["lp"] + 1e-6
    assert every - 1e-6 <= lp["lp-preemptive"] <= lp["lp"] + 1e-6
    assert lp["lp"] <= best_total_latency(workload, memory) + 1e-9


def test_known_values():
    """(2, 3) x 6 in M = 10: 35.744 without preemption, 30.50944 with, and vllm reaches 33."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    found = rows(workload, 10)
    assert found["lp"] == pytest.approx(35.744)
    assert found["lp-preemptive"] == pytest.approx(30.50944)
    assert found["lp-preemptive"] <= find_policy("vllm").run(workload, 10).latency.sum() == 33


def test_capacity_counts_from_the_first_arrival():
    """Nothing can run before: the same requests 100 rounds later have the same bounds."""
    early = rows(Workload([0, 0, 1, 2], [3, 4, 2, 5], [3, 2, 5, 2]), 9)
    late = rows(Workload([100, 100, 101, 102], [3, 4, 2, 5], [3, 2, 5, 2]), 9)
    assert late == pytest.approx(early)


@settings(max_examples=150)
@given(instances(max_n=7, max_memory=24))
def test_starts_that_join_as_needed_reach_the_same_optimum(instance):
    """The grown model ends at the optimum of the whole one, in both relaxations."""
    workload, memory = instance
    model = whole_model(workload, memory)
    for cumulative in (False, True):
        optimum, _ = relaxation_by_scipy(model, cumulative)
        dual, how = lp_module._grown(workload, memory, cumulative, lp_module.SECONDS)
        assert dual.value == pytest.approx(optimum, rel=1e-6, abs=1e-6)
        assert dual.covers_preemption or not cumulative
        assert how.startswith("LP optimum")


def test_the_default_mix_is_solved():
    """100 requests of the default mix: far too many starts for a whole model, proved all the same.

    Between the fluid bound and the best list schedule, as the order of bounds demands.
    """
    workload = generate(Scenario(n=100))
    bounds = {bound.bound: bound for bound in find_method("lp").bounds(workload, 16_492)}
    assert bounds["lp"].method.startswith("LP optimum")
    assert bounds["lp-preemptive"].covers_preemption
    svf = find_policy("svf").run(workload, 16_492, skip=5).latency.sum()
    fluid = rows(workload, 16_492, "fluid")["fluid"]
    assert fluid < bounds["lp-preemptive"].value < bounds["lp"].value < svf


def test_a_bound_of_a_stopped_solve_says_so():
    """A millisecond: no better than the LP, no worse than the fluid, and honest."""
    rng = np.random.default_rng(0)
    workload = Workload(np.zeros(60), rng.integers(1, 60, 60), rng.integers(1, 40, 60))
    stopped = find_method("lp").bounds(workload, 500, time_limit=0.001)
    solved, fluid = rows(workload, 500), rows(workload, 500, "fluid")["fluid"]
    for bound in stopped:
        assert fluid <= bound.value < solved[bound.bound]
        assert "stopped after 0 s" in bound.method


def test_too_large_a_model_is_refused():
    """With its size and what to use instead."""
    rng = np.random.default_rng(0)
    workload = Workload(np.zeros(300), rng.integers(1, 900, 300), rng.integers(1, 900, 300))
    assert find_method("lp").cost(workload, 2000) == np.inf
    with pytest.raises(InputError, match=r"the LP would have .* use the bound fluid"):
        find_method("lp").bounds(workload, 2000)


def test_nothing_is_simulated_to_estimate(monkeypatch):
    """What solving costs, many requests tell by themselves."""

    def simulated(*_):
        raise AssertionError("a schedule was simulated")

    monkeypatch.setattr(lp_module, "look_ahead", simulated)
    assert find_method("lp").cost(generate(Scenario(n=2000)), 16_492) > 0.5
