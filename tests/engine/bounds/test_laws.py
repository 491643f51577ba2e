"""No run beats a bound that claims to cover it."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import METHODS, POLICIES, InputError, Workload
from engine.machine.clock import ROUNDS
from engine.proof.time_indexed.quiet import quiet_solver
from tests.engine.policies.test_laws import params_of, run_if_possible
from tests.twins.strategies import instances

IN_ROUNDS = [key for key, method in METHODS.items() if method.speaks(ROUNDS)]


@settings(max_examples=80)
@given(st.data(), instances(max_n=7, max_memory=18))
def test_no_run_beats_a_bound(data, instance):
    """All policies with any parameters, all bounds, with and without arrivals."""
    workload, memory = instance
    able = [method for method in METHODS.values() if method.speaks(ROUNDS)]
    bounds = [bound for method in able for bound in method.bounds(workload, memory)]
    assert any(bound.covers_preemption for bound in bounds)
    for policy in POLICIES.values():
        run = run_if_possible(policy, workload, memory, **data.draw(params_of(policy)))
        for bound in bounds:
            if run is not None and bound.covers(run):
                assert bound.value <= run.latency.sum() + 1e-6, (policy.key, bound.bound)


@settings(max_examples=50)
@given(st.data(), instances(max_n=20, max_memory=40))
def test_no_run_beats_a_bound_in_a_crowd(data, instance):
    """More requests than the integer program takes: everything else, stopped early too."""
    workload, memory = instance
    seconds = data.draw(st.sampled_from([0.001, 0.05, 0.2]))
    bounds = [
        bound
        for key in ("fluid", "prices", "lp")
        for bound in METHODS[key].bounds(workload, memory, time_limit=seconds)
    ]
    for policy in POLICIES.values():
        if policy.key != "hindsight":
            run = run_if_possible(policy, workload, memory, **data.draw(params_of(policy)))
            for bound in bounds:
                if run is not None and bound.covers(run):
                    assert bound.value <= run.latency.sum() + 1e-6, (policy.key, bound.bound)


def one_after_another(seed):
    """A backlog of requests that fill M each, so that no two ever run together."""
    rng = np.random.default_rng(seed)
    n, memory = int(rng.integers(40, 80)), int(rng.integers(300, 900))
    output = rng.integers(1, 12, n)
    prompt = memory - output - rng.integers(0, 5, n)
    return Workload(np.zeros(n), prompt, output), memory


@pytest.mark.parametrize("key", ["fluid", "prices"])
def test_the_law_would_notice_three_per_cent(key):
    """One request at a time leaves a bound no room: it is met to 3 %, by runs it must not pass."""
    noticed = 0
    for seed in range(20):
        workload, memory = one_after_another(seed)
        best = min(
            POLICIES[policy].run(workload, memory).latency.sum() for policy in ("svf", "mc-sf")
        )
        for bound in METHODS[key].bounds(workload, memory):
            assert bound.value <= best + 1e-6
            noticed += 1.03 * bound.value > best
    assert noticed == 20 * len(METHODS[key].bounds(workload, memory))


@pytest.mark.parametrize("key", ["fluid", "prices", "lp"])
def test_no_time_leaves_a_bound(key):
    """Stopped at once, a method still gives what it has, certified, above the sum of outputs."""
    workload, memory = one_after_another(0)
    for bound in METHODS[key].bounds(workload, memory, time_limit=0.001):
        assert bound.certified
        assert workload.output.sum() <= bound.value


@pytest.mark.parametrize("key", IN_ROUNDS)
def test_requests_that_run_aside_count_in_no_bound(key):
    """Those that cannot fit are out of the bound as they are out of the run."""
    whole = Workload([0, 0, 1, 2], [4, 9, 4, 3], [3, 2, 3, 2])
    fitting = Workload([0, 1, 2], [4, 4, 3], [3, 3, 2])
    values = [
        [bound.value for bound in METHODS[key].bounds(workload, 10)]
        for workload in (whole, fitting)
    ]
    assert values[0] == values[1]


def test_preemption_does_beat_bounds_that_do_not_cover_it():
    """Else the coverage rule would not be tested by the law above."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    run = POLICIES["vllm"].run(workload, 10)
    rows = {
        b.bound: b
        for method in METHODS.values()
        if method.speaks(ROUNDS)
        for b in method.bounds(workload, 10)
    }
    assert rows["lp"].value > run.latency.sum()
    assert not rows["lp"].covers(run)
    assert not rows["hindsight"].covers(run)
    assert rows["lp-preemptive"].covers(run)


def test_bounds_for_every_run_hold_where_runs_preempt():
    """Small memories and random watermarks: hundreds of runs that gave up KV, none below a bound.

    Some of them beat the bounds that do not cover them, so the law has something to catch.
    """
    rng = np.random.default_rng(5)
    preempting = beaten = 0
    for _ in range(400):
        memory, n = int(rng.integers(5, 16)), int(rng.integers(3, 8))
        prompt = rng.integers(1, max(2, memory // 3), n)
        output = rng.integers(1, memory - prompt + 1)
        arrival = np.round(rng.random(n) * rng.choice([0, 6]), 2)
        workload = Workload(arrival, prompt, output)
        run = POLICIES["vllm"].run(workload, memory, watermark=float(rng.random() / 3))
        if run.gave_up_kv:
            preempting += 1
            bounds = [b for key in ("fluid", "lp") for b in METHODS[key].bounds(workload, memory)]
            total = run.latency.sum()
            assert all(b.value <= total + 1e-9 for b in bounds if b.covers_preemption)
            beaten += any(b.value > total for b in bounds)
    assert preempting > 150
    assert beaten > 0


def test_a_missing_solver_is_said(monkeypatch):
    """What to install and what to use instead, not a crash."""
    monkeypatch.setitem(sys.modules, "highspy", None)
    quiet_solver.cache_clear()
    try:
        with pytest.raises(InputError, match="needs the solver highspy: install it"):
            quiet_solver()
    finally:
        quiet_solver.cache_clear()
