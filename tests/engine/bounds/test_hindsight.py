"""The integer program finds the optimum, proves it, and is honest when it does not."""

import numpy as np
import pytest
from hypothesis import given, settings

from engine import InputError, Workload, find_method
from engine.improve.hindsight import best_in_hindsight
from engine.memory_curve import memory_curve
from tests.twins.batches import crowds
from tests.twins.brute_force import best_total_latency
from tests.twins.strategies import instances


@settings(max_examples=150)
@given(instances(max_n=4, max_memory=14))
def test_equals_brute_force(instance):
    """With and without arrivals, whole or fractional; the schedule attains the bound within M."""
    workload, memory = instance
    found = best_in_hindsight(workload, memory)
    assert found.proved
    assert found.lower == pytest.approx(best_total_latency(workload, memory), abs=1e-6)
    assert found.run.latency.sum() == pytest.approx(found.lower)
    assert memory_curve(found.run).peak <= memory
    assert (found.run.start >= workload.arrival).all()


@settings(max_examples=12)
@given(crowds(max_n=7, longest=3, max_memory=10))
def test_equals_brute_force_where_many_wait(instance):
    """Up to seven short requests, of which few fit at a time, all ways to start them tried."""
    workload, memory = instance
    (row,) = find_method("hindsight").bounds(workload, memory)
    assert row.value == pytest.approx(best_total_latency(workload, memory), abs=1e-6)


def test_improves_on_every_list_policy():
    """Where no list policy is optimal the program must find what none of them does."""
    rng = np.random.default_rng(7)
    improved = 0
    for _ in range(30):
        workload = Workload(np.zeros(6), rng.integers(1, 12, 6), rng.integers(1, 9, 6))
        found = best_in_hindsight(workload, 20)
        assert found.proved
        improved += found.run.order is None
    assert improved >= 3


def test_stopped_early_it_is_a_lower_bound_and_says_so():
    """No time: a bound below the best schedule known, not called optimal."""
    rng = np.random.default_rng(0)
    workload = Workload(np.zeros(14), np.full(14, 3), rng.integers(1, 40, 14))
    (bound,) = find_method("hindsight").bounds(workload, 45, time_limit=0.2)
    known = best_in_hindsight(workload, 45, 0.2).run.latency.sum()
    assert workload.output.sum() <= bound.value < known
    assert "stopped after 0.2 s" in bound.method


def test_too_large_a_program_is_refused():
    """With its size and what to use instead."""
    rng = np.random.default_rng(0)
    workload = Workload(np.zeros(60), rng.integers(1, 30, 60), rng.integers(1, 60, 60))
    with pytest.raises(InputError, match=r"the integer program would have .* use the bound lp"):
        best_in_hindsight(workload, 90)


def test_nothing_on_stdout(capfd):
    """Not even the solver's banner: results are printed there."""
    best_in_hindsight(Workload([0] * 4, [2] * 4, [3] * 4), 9)
    assert capfd.readouterr().out == ""
