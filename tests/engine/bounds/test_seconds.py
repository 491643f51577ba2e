"""Bounds in seconds: no run that they cover beats them, and a mistake of 1 % would be seen."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine.bounds.srpt
from engine import (
    METHODS,
    POLICIES,
    InputError,
    Scenario,
    Workload,
    find_method,
    find_policy,
    gap,
    generate,
)
from engine.machine.clock import ROUNDS, seconds_clock
from engine.machine.hardware import find_preset
from engine.progress import silent
from engine.proof.work.alone import time_alone
from engine.proof.work.envelope import Work, work
from engine.proof.work.prices import searches
from tests.engine.policies.test_laws import params_of, run_unless_stuck
from tests.twins.strategies import instances

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


@settings(max_examples=60)
@given(st.data(), instances(max_n=6, max_memory=60), WIDE)
def test_no_run_beats_a_bound(data, instance, clock):
    """All policies with any parameters, wide coefficients, with and without arrivals."""
    workload, memory = instance
    bounds = all_bounds(workload, memory, clock)
    assert {b.bound for b in bounds} == {"srpt", "srpt-preemptive", "prices", "prices-preemptive"}
    rows = {bound.bound: bound for bound in bounds}
    for name in ("srpt", "prices"):
        assert rows[name].value >= rows[f"{name}-preemptive"].value * (1 - 1e-12)
    for policy in POLICIES.values():
        try:
            run = policy.run(workload, memory, clock=clock, **data.draw(params_of(policy)))
        except InputError:
            continue  # options that exclude each other, blocks larger than M, or a livelock
        assert check_not_beaten(run, bounds) in ((0,) if run.set_aside.size else (2, 4))


def small_backlog(rng):
    """(workload, memory, clock): a small memory, so that vllm preempts."""
    memory, n = int(rng.integers(20, 200)), int(rng.integers(4, 25))
    prompt = rng.integers(1, memory // 2, n)
    output = rng.integers(1, memory - prompt + 1)
    workload = Workload(np.round(rng.random(n) * rng.choice([0, 2]), 2), prompt, output)
    clock = seconds_clock(
        rng.choice([0.001, 0.0372]), rng.choice([0.0001, 0.002]), rng.choice([0.0, 5.0, 90.0]),
        rng.choice([0.0, 1e-4]), rng.choice([0.0, 0.02, 0.2]),
    )  # fmt: skip
    return workload, memory, clock


def test_runs_that_preempt_or_cut_prompts():
    """More than a hundred of them, none below a bound for every run."""
    rng = np.random.default_rng(7)
    preempting = cut = 0
    for _ in range(60):
        workload, memory, clock = small_backlog(rng)
        bounds = all_bounds(workload, memory, clock)
        chunks = {"chunked_prefill": 1, "max_num_batched_tokens": int(rng.integers(4, 100))}
        for options in ({}, {"swap": 1}, {"victim": 1}, chunks):
            run = find_policy("vllm").run(workload, memory, clock=clock, **options)
            check_not_beaten(run, bounds)
            preempting += run.gave_up_kv
            cut += run.cut_prompts
    assert preempting > 100
    assert cut > 40


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


def test_a_run_that_sets_more_aside_is_not_covered():
    """Whole blocks leave no room for a request that fits in M: the bound counts it."""
    workload = Workload([0.0, 0.0], [2, 20], [2, 9])
    run = find_policy("vllm").run(workload, 29, clock=LLAMA_70B, block_size=2)
    assert run.set_aside.size == 1
    assert not any(bound.covers(run) for bound in all_bounds(workload, 29, LLAMA_70B))


def test_a_bound_of_nothing_is_no_bound():
    """On a clock where small rounds take no time, the gap is unknown and not infinite."""
    workload = Workload([0.0, 0.0], [5, 6], [7, 8])
    clock = seconds_clock(0.0, 0.1, 1000.0)
    run = find_policy("svf").run(workload, 30, clock=clock)
    bounds = all_bounds(workload, 30, clock)
    assert [bound.value for bound in bounds] == [0.0] * 4
    assert gap(run, bounds) is None


def total_over(replicas, policy, workload, memory, clock):
    """Total latency with every so-manieth request on each of the replicas."""
    turn = np.arange(len(workload)) % replicas
    shares = [workload.take(turn == g) for g in range(replicas) if (turn == g).any()]
    return sum(policy.run(share, memory, clock=clock).latency.sum() for share in shares)


def test_replicas():
    """Requests spread over G machines stay above the bounds for G, and beat those for one."""
    rng = np.random.default_rng(3)
    beaten = set()
    for number in range(40):
        workload, memory, _ = small_backlog(rng)
        clock, replicas = (ROUNDS, LLAMA_70B)[number % 2], int(rng.integers(2, 5))
        total = total_over(replicas, find_policy("svf"), workload, memory, clock)
        for key in ("fluid", "lp", "prices") if clock.is_rounds else ("srpt", "prices"):
            method = find_method(key)
            for row in method.bounds(workload, memory, clock=clock, replicas=replicas):
                assert row.value <= total * (1 + 1e-9), row.bound
            for row in method.bounds(workload, memory, clock=clock):
                beaten |= {row.bound} if row.value > total else set()
    assert beaten > {"fluid", "lp", "prices", "srpt"}
    with pytest.raises(InputError, match="replicas must be a whole number from 1"):
        find_method("fluid").bounds(workload, memory, replicas=0)


def test_known_answers(shared):
    """No bound is above a run it covers, nor below an independent reference's weaker one."""
    for case in json.loads((shared / "cases" / "golden.json").read_text())["seconds"]:
        workload = Workload(*(case[column] for column in ("arrival", "prompt", "output")))
        clock = seconds_clock(**{k.lower(): v for k, v in case["coefficients"].items()})
        bounds = all_bounds(workload, case["memory"], clock)
        for row in bounds:
            least = "srpt_bound_any_policy" if row.covers_preemption else "srpt_bound"
            assert row.value >= case[least] * (1 - 1e-10)
        for policy in [policy for policy in POLICIES.values() if not policy.timed]:
            run = run_unless_stuck(policy, workload, case["memory"], clock=clock)
            assert run is None or check_not_beaten(run, bounds) in (2, 4)


@pytest.mark.parametrize(("n", "most"), [(300, 1.35), (2000, 1.17)])
def test_backlogs_of_the_default_mix(n, most):
    """How near svf is to the price bound; shortest remaining work alone says much less."""
    workload = generate(Scenario(n=n))
    run = find_policy("svf").run(workload, 16_492, clock=LLAMA_70B)
    prices, _ = find_method("prices").bounds(workload, 16_492, clock=LLAMA_70B)
    srpt, _ = find_method("srpt").bounds(workload, 16_492, clock=LLAMA_70B)
    assert gap(run, [prices]) < most
    assert gap(run, [srpt]) > 1.08 * most


def test_more_requests_get_coarser_cells():
    """The bound of ten times as many requests takes about as long, and stays near."""
    workload = generate(Scenario(n=20_000))
    run = find_policy("svf").run(workload, 16_492, clock=LLAMA_70B)
    prices, _ = find_method("prices").bounds(workload, 16_492, clock=LLAMA_70B)
    assert 1.0 < gap(run, [prices]) < 1.15


def test_without_time_there_is_the_time_alone():
    """Stopped at the first step, the ascent has no prices yet."""
    workload = generate(Scenario(n=50))
    (search,) = searches(workload, 16_492, LLAMA_70B, 1, every_run=False)
    ((taken, rise),) = search.rises(0.0, silent)
    assert taken < 0.1
    alone = time_alone(workload, LLAMA_70B.step).total.sum()
    assert search.judged(rise.numbers) == pytest.approx(alone)


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
            rng.uniform(0.01, 0.05), rng.uniform(1e-6, 2e-5), rng.choice([0.0, 40.0, 90.0]),
            rng.uniform(0, 1e-6), rng.uniform(0, 1e-4),
        )  # fmt: skip
        runs = [POLICIES[key].run(workload, memory, clock=clock) for key in ("svf", "mc-sf")]
        yield workload, memory, clock, min(run.latency.sum() for run in runs)


@pytest.fixture(scope="module")
def backlogs():
    return list(serial_backlogs(24))


def test_long_serial_backlogs(backlogs):
    """Every row comes near the best schedule and none above it."""
    for workload, memory, clock, least in backlogs:
        for row in all_bounds(workload, memory, clock):
            near = 0.9 if row.covers_preemption else 0.97
            assert near * least < row.value <= least * (1 + 1e-9), row.bound


def larger(found):
    """The same work and 1 % more."""
    return Work(*(1.01 * getattr(found, name) for name in ("first", "base", "slope", "total")))


def test_serial_backlogs_see_a_mistake_in_srpt(backlogs, monkeypatch):
    """The mutation check of the test above: with 1 % too much work, it would fail."""
    monkeypatch.setattr(engine.bounds.srpt, "work", lambda *of: larger(work(*of)))
    broken = 0
    for workload, memory, clock, least in backlogs:
        (kept, _) = find_method("srpt").bounds(workload, memory, clock=clock)
        broken += kept.value > least * (1 + 1e-9)
    assert broken >= 8


def test_serial_backlogs_see_a_mistake_in_prices(backlogs):
    """Prices that prove a bound prove too much with 1 % too much work."""
    broken = 0
    for workload, memory, clock, least in backlogs:
        (search,) = searches(workload, memory, clock, 1, every_run=False)
        numbers = search.rises(1.0, silent)[-1][1].numbers
        assert search.judged(numbers) <= least
        works = tuple(larger(found) for found in search.requests.works)
        mistaken = replace(search, requests=replace(search.requests, works=works))
        broken += mistaken.judged(numbers) > least * (1 + 1e-9)
    assert broken >= 8


H100 = find_preset("llama-3-8b-h100").clock


def test_words_beside_a_larger_bound(monkeypatch):
    """No more is claimed than that the prices found say no more, and what says more is named."""
    monkeypatch.setattr("engine.proof.work.prices.Search.judged", lambda search, numbers: 1.0)
    workload = Workload([0.0] * 9, [900] * 9, [100] * 9)
    for row in find_method("prices").bounds(workload, 1_100, clock=H100):
        assert "the prices found say no more" in row.method
        assert row.method.split("; ")[-1].startswith("srpt")
        assert " says more: 2" in row.method
    monkeypatch.undo()
    for row in find_method("prices").bounds(workload, 1_100, clock=H100):
        assert "says more" not in row.method
