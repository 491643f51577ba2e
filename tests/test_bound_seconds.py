"""Bounds in seconds: no run that they cover beats them, and a mistake of 1 % would be seen."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine.bounds.srpt
import engine.work.prices
from engine import METHODS, POLICIES, Scenario, Workload, find_method, find_policy, gap, generate
from engine.clock import ROUNDS, seconds_clock
from engine.simulate.look_ahead import look_ahead
from engine.work.envelope import Work, work
from tests.strategies import instances
from tests.test_laws import params_of

LLAMA_70B = seconds_clock(0.0372, 0.0001965, 90, 5.67e-8, 4.2e-5)
WIDE = st.builds(
    seconds_clock,
    st.sampled_from([0.001, 0.0372, 1.0]),
    st.sampled_from([0.0, 0.0001965, 0.01, 0.5]),
    st.sampled_from([0.0, 2.5, 5.0, 90.0]),
    st.sampled_from([0.0, 5.67e-8, 1e-3, 0.05]),
    st.sampled_from([0.0, 4.2e-5, 0.01, 0.5]),
)


def all_bounds(workload, memory, clock, **options):
    methods = [method for method in METHODS.values() if method.speaks(clock)]
    return [b for m in methods for b in m.bounds(workload, memory, clock=clock, **options)]


def check_not_beaten(run, bounds):
    """No covering bound is above the run; the number of bounds that cover it."""
    covering = [bound for bound in bounds if bound.covers(run)]
    total = run.latency.sum()
    for bound in covering:
        assert bound.value <= total * (1 + 1e-9), (run.policy, bound.bound, bound.value, total)
    return len(covering)


@settings(max_examples=150)
@given(st.data(), instances(max_n=6, max_memory=60), WIDE)
def test_no_run_beats_a_bound(data, instance, clock):
    """All policies with any parameters, wide coefficients, with and without arrivals."""
    workload, memory = instance
    bounds = all_bounds(workload, memory, clock)
    assert {b.bound for b in bounds} == {"srpt", "srpt-preemptive", "prices", "prices-preemptive"}
    rows = {bound.bound: bound for bound in bounds}
    for name in ("srpt", "prices"):
        assert rows[name].value >= rows[f"{name}-preemptive"].value
    for policy in POLICIES.values():
        try:
            run = policy.run(workload, memory, clock=clock, **data.draw(params_of(policy)))
        except engine.InputError:
            continue  # two options that exclude each other, or a block larger than M
        assert check_not_beaten(run, bounds) in (2, 4)


def preempting_runs(rng):
    """Backlogs on small memories under vllm's options: recompute, swap and chunks."""
    memory, n = int(rng.integers(20, 200)), int(rng.integers(4, 25))
    prompt = rng.integers(1, memory // 2, n)
    output = rng.integers(1, memory - prompt + 1)
    workload = Workload(np.round(rng.random(n) * rng.choice([0, 2]), 2), prompt, output)
    clock = seconds_clock(
        rng.choice([0.001, 0.0372]), rng.choice([0.0001, 0.002]), rng.choice([0.0, 5.0, 90.0]),
        rng.choice([0.0, 1e-4]), rng.choice([0.0, 0.02, 0.2]),
    )  # fmt: skip
    vllm = find_policy("vllm")
    chunk = int(rng.integers(4, 100))
    for options in (
        {},
        {"swap": 1},
        {"victim": 1},
        {"chunked_prefill": 1, "max_num_batched_tokens": chunk},
    ):
        yield vllm.run(workload, memory, clock=clock, **options)


def test_runs_that_preempt_or_cut_prompts():
    """Hundreds of them, none below a bound for every run; some below those for other runs."""
    rng = np.random.default_rng(7)
    preempting = cut = beaten = 0
    for _ in range(60):
        for run in preempting_runs(rng):
            bounds = all_bounds(run.workload, run.memory, run.clock)
            check_not_beaten(run, bounds)
            preempting += run.gave_up_kv
            cut += run.cut_prompts
            beaten += any(bound.value > run.latency.sum() for bound in bounds)
    assert preempting > 100
    assert cut > 40
    assert beaten > 0


def test_cut_prompts_beat_bounds_that_do_not_cover_them():
    """Chunks of N0 tokens ride free: the superadditive envelope does not hold for them."""
    workload = Workload(np.zeros(20), [180] * 20, [1] * 20)
    clock = seconds_clock(0.02, 0.001, 90.0)
    run = find_policy("sarathi").run(workload, 10_000, clock=clock, chunk_size=90)
    assert run.cut_prompts
    assert not run.gave_up_kv
    rows = {bound.bound: bound for bound in all_bounds(workload, 10_000, clock)}
    for name in ("srpt", "prices"):
        assert rows[name].value > 1.5 * run.latency.sum()
        assert not rows[name].covers(run)
        assert rows[f"{name}-preemptive"].covers(run)
        assert rows[f"{name}-preemptive"].value <= run.latency.sum()
    whole = find_policy("sarathi").run(workload, 10_000, clock=clock, chunk_size=10_000)
    assert not whole.cut_prompts


def test_a_bound_speaks_of_its_own_clock_only():
    """Other coefficients, or rounds, are another machine."""
    workload = Workload([0.0, 0.0], [5, 6], [7, 8])
    (kept, _) = find_method("srpt").bounds(workload, 30, clock=LLAMA_70B)
    svf = find_policy("svf")
    assert kept.covers(svf.run(workload, 30, clock=LLAMA_70B))
    assert not kept.covers(svf.run(workload, 30, clock=seconds_clock(0.01)))
    assert not kept.covers(svf.run(workload, 30))
    (rounds,) = find_method("hindsight").bounds(workload, 30)
    assert rounds.clock == ROUNDS
    assert not rounds.covers(svf.run(workload, 30, clock=LLAMA_70B))


def test_a_bound_of_nothing_is_no_bound():
    """On a clock where small rounds take no time, the gap is unknown and not infinite."""
    workload = Workload([0.0, 0.0], [5, 6], [7, 8])
    clock = seconds_clock(0.0, 0.1, 1000.0)
    run = find_policy("svf").run(workload, 30, clock=clock)
    bounds = all_bounds(workload, 30, clock)
    assert [bound.value for bound in bounds] == [0.0] * 4
    assert gap(run, bounds) is None


def serial_backlogs(count):
    """(workload, memory, clock, least total latency known): one request, or two, fill M.

    Requests hold nearly all of the memory all along, and the shorter go first, so that the
    works add up to nearly the whole time and the bound is nearly reached.
    """
    rng = np.random.default_rng(11)
    for number in range(count):
        share = 1 + number % 2
        memory = share * int(rng.integers(1500, 3000))
        n = int(rng.integers(60, 160))
        output = rng.integers(1, 12, n)
        prompt = memory // share - output - rng.integers(0, 4, n)
        workload = Workload(np.zeros(n), prompt, output)
        clock = seconds_clock(
            rng.uniform(0.01, 0.05), rng.uniform(1e-5, 3e-4), rng.choice([0.0, 40.0, 90.0]),
            rng.uniform(0, 1e-6), rng.uniform(0, 1e-4),
        )  # fmt: skip
        runs = [POLICIES[key].run(workload, memory, clock=clock) for key in ("svf", "mc-sf")]
        yield workload, memory, clock, min(run.latency.sum() for run in runs)


def broken(rows, least):
    return {row.bound for row in rows if row.value > least * (1 + 1e-9)}


def test_long_serial_backlogs():
    """Every row comes near the best schedule and none above it."""
    for workload, memory, clock, least in serial_backlogs(24):
        rows = all_bounds(workload, memory, clock)
        assert not broken(rows, least)
        assert rows[0].value > 0.9 * least


def test_serial_backlogs_see_a_mistake_of_one_per_cent(monkeypatch):
    """The mutation check of the test above: works that are 1 % too large break both methods."""

    def too_large(*arguments):
        found = work(*arguments)
        return Work(*(1.01 * getattr(found, name) for name in ("first", "base", "slope", "total")))

    monkeypatch.setattr(engine.bounds.srpt, "work", too_large)
    monkeypatch.setattr(engine.work.prices, "work", too_large)
    seen = [
        broken(all_bounds(workload, memory, clock), least)
        for workload, memory, clock, least in serial_backlogs(24)
    ]
    for name in ("srpt", "prices"):
        assert sum(name in names for names in seen) > 6
