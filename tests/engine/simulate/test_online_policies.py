"""Every online policy does what its plain twin does, on both clocks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Choice, InputError, Workload, find_policy
from engine.errors import Livelock
from engine.machine.clock import ROUNDS
from engine.memory_curve import memory_curve
from engine.policies.alpha_greedy import ONE_REPEAT
from engine.policies.complementary import complementary
from engine.policies.nested_wait import GateRule, nested_wait
from engine.policies.past_future import past_future
from engine.policies.srpt import srpt
from engine.policies.static import static
from engine.policies.wait import GroupRule, types_of, wait
from engine.progress import silent
from engine.simulate.feedback_queue import Levels, feedback_queue
from engine.simulate.preempting import admission_limit
from engine.simulate.restarting import Clearing, restarting
from engine.simulate.timetable import NEVER
from tests.engine.policies.test_laws import params_of, run_if_possible
from tests.engine.simulate.test_clocks import CLOCKS, coefficient, compare
from tests.twins import plain_policies, plain_prefix
from tests.twins.plain_server import PlainServer
from tests.twins.strategies import ADMISSION_LIMITS, instances

ONLINE = (
    "orca", "static", "alpha-greedy", "alpha-beta", "vllm-priority", "srpt", "fastserve",
    "past-future", "complementary", "wait", "nested-wait",
)  # fmt: skip

moment = st.integers(0, 640).map(lambda k: k / 64)
shares = st.integers(0, 9).map(lambda k: k / 10)


@st.composite
def cases(draw, **given):
    """(workload, memory, clock): arrivals in order, as the twins take them."""
    workload, memory = draw(instances(**given))
    workload = replace(workload, admission_limits=draw(ADMISSION_LIMITS))
    return workload.take(workload.ascending(workload.arrival)), memory, draw(CLOCKS)


@st.composite
def predicted_cases(draw):
    """With predictions that are right, too small or too large."""
    workload, memory, clock = draw(cases())
    wrong = st.lists(st.integers(1, 50), min_size=len(workload), max_size=len(workload))
    predicted = draw(st.one_of(st.just(workload.output), wrong.map(np.array)))
    return workload, memory, clock, predicted


@st.composite
def outgrown_cases(draw):
    """Few requests with short prompts, whose long outputs were predicted much too short."""
    memory, n = draw(st.integers(60, 120)), draw(st.integers(2, 5))
    columns = [
        draw(st.lists(st.integers(low, high), min_size=n, max_size=n))
        for low, high in ((0, 60), (1, 6), (20, 54), (1, 30))
    ]
    columns[0].sort()
    return Workload(*columns[:3]), memory, draw(CLOCKS), np.array(columns[3])


def run_all(key, workload, memory, clock, **params):
    """A policy's schedule, with those who left unserved still in it."""
    return Choice.of(key, params).schedule(workload, memory, clock, silent)


def check(run, decide):
    """The run equals the twin's."""
    compare(run, PlainServer(run.workload, run.memory, decide[1]).run(decide[0]))


@settings(max_examples=166)
@given(cases(), st.integers(0, 60))
def test_orca(case, max_output):
    """Reservations are of the longest output, whatever smaller one is asked for."""
    workload, memory, clock = case
    run = run_all("orca", workload, memory, clock, max_output=max_output)
    longest = max(max_output, workload.output.max())
    check(run, (plain_policies.orca(longest), clock))


@settings(max_examples=400)
@given(st.one_of(predicted_cases(), outgrown_cases()))
def test_static(case):
    """Finished members keep their memory, also where outputs were predicted wrongly."""
    workload, memory, clock, predicted = case
    run = static(workload, memory, predicted, clock, silent)
    check(run, (plain_policies.static(predicted.tolist()), clock))


def outcome(of):
    """A run or its twin; None for a livelock."""
    try:
        return of()
    except (Livelock, plain_policies.Stuck):
        return None


@settings(max_examples=400)
@given(cases(), shares)
def test_alpha_greedy(case, alpha):
    """All restart together, or the livelock is found."""
    workload, memory, clock = case
    limit = admission_limit(memory, alpha)
    run = outcome(lambda: run_all("alpha-greedy", workload, memory, clock, alpha=alpha))
    decide = plain_policies.restarting(limit, 1.0, ONE_REPEAT, 0)
    plain = outcome(lambda: PlainServer(workload, memory, clock).run(decide))
    assert (run is None) == (plain is None)
    if run is not None:
        compare(run, plain)


@settings(max_examples=400)
@given(cases(), shares, st.integers(1, 10), st.integers(0, 5))
def test_alpha_beta(case, alpha, tenths, seed):
    """Sweep by sweep with the same uniform numbers; patience is counted alike."""
    workload, memory, clock = case
    rule = Clearing(admission_limit(memory, alpha), tenths / 11, 20)
    run = outcome(lambda: restarting("it", workload, memory, rule, seed, clock, silent))
    decide = plain_policies.restarting(*rule, seed)
    plain = outcome(lambda: PlainServer(workload, memory, clock).run(decide))
    assert (run is None) == (plain is None)
    if run is not None:
        compare(run, plain)


@settings(max_examples=333)
@given(cases(), st.data(), st.integers(0, 128), shares, st.integers(1, 9))
def test_vllm_priority(case, data, ageing, watermark, most):
    """For any priorities and any rate of ageing."""
    workload, memory, clock = case
    n = len(workload)
    priority = data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))
    given = replace(workload, priority=priority)
    params = {"ageing": ageing / 64, "watermark": watermark, "max_num_seqs": most}
    run = run_all("vllm-priority", given, memory, clock, **params)
    limit = admission_limit(memory, watermark)
    check(run, (plain_policies.vllm_priority(priority, ageing / 64, limit, most), clock))


@settings(max_examples=166)
@given(cases(), shares)
def test_equal_priorities_are_vllm(case, watermark):
    """Without priorities it is vllm, round for round."""
    workload, memory, clock = case
    ours, theirs = (
        run_all(key, workload, memory, clock, watermark=watermark)
        for key in ("vllm-priority", "vllm")
    )
    assert ours.gone_at.tolist() == theirs.gone_at.tolist()
    assert ours.residencies.begin.tolist() == theirs.residencies.begin.tolist()


@settings(max_examples=400)
@given(st.one_of(predicted_cases(), outgrown_cases()))
def test_srpt(case):
    """Also where outputs were predicted wrongly."""
    workload, memory, clock, predicted = case
    run = srpt(workload, memory, predicted, clock, silent)
    check(run, (plain_prefix.srpt(predicted.tolist()), clock))


@settings(max_examples=400)
@given(cases(), st.integers(1, 5), st.integers(1, 12), coefficient, st.integers(1, 4))
def test_fastserve(case, quantum, starved, transfer, scale):
    """With prompts long enough to skip levels, and few rounds to starve in."""
    small, memory, clock = case
    longer = 512 * scale
    workload = replace(small, prompt=small.prompt * longer)
    memory *= longer
    rules = Levels(quantum, starved, transfer)
    run = feedback_queue(workload, memory, rules, clock, silent)
    check(run, (plain_prefix.fastserve(quantum, starved, transfer), clock))


@settings(max_examples=166)
@given(cases(), st.integers(1, 3), st.integers(1, 8))
def test_fastserve_where_outputs_fill_memory(case, quantum, starved):
    """With short prompts, so that memory runs out while requests grow."""
    workload, memory, clock = case
    run = feedback_queue(workload, memory, Levels(quantum, starved, 0.0), clock, silent)
    check(run, (plain_prefix.fastserve(quantum, starved, 0.0), clock))


@settings(max_examples=400)
@given(st.one_of(predicted_cases(), outgrown_cases()), shares)
def test_past_future(case, margin):
    """Plans that stretch as requests outgrow them, and the recovery where they are short."""
    workload, memory, clock, predicted = case
    run = past_future(workload, memory, predicted, margin, clock, silent)
    limit = admission_limit(memory, margin)
    check(run, (plain_policies.past_future(predicted.tolist(), limit), clock))


def test_past_future_gives_a_tenth_more():
    """At 40 tokens where 20 were predicted it plans for 44, and (1, 4) has to wait until 45."""
    workload = Workload([0, 40], [1, 1], [45, 4])
    run = past_future(workload, 46, np.array([20, 4]), 0.0, ROUNDS, silent)
    assert run.start.tolist() == [0, 45]


@settings(max_examples=400)
@given(predicted_cases(), shares, coefficient)
def test_complementary(case, margin, transfer):
    """Medians that move, pairs, and swaps where predictions were short."""
    workload, memory, clock, predicted = case
    run = complementary(workload, memory, predicted, margin, transfer, clock, silent)
    limit = admission_limit(memory, margin)
    check(run, (plain_policies.complementary(predicted.tolist(), limit, transfer), clock))


@settings(max_examples=400)
@given(predicted_cases(), st.lists(st.integers(1, 4), min_size=4, max_size=4), moment, shares)
def test_wait(case, sizes, max_wait, margin):
    """Any group sizes and any patience, right and wrong predictions."""
    workload, memory, clock, predicted = case
    sizes = np.array(sizes)
    types, limit = types_of(workload), admission_limit(memory, margin)
    run = wait(workload, memory, predicted, GroupRule(types, sizes, max_wait, limit), clock, silent)
    decide = plain_policies.wait(
        types.tolist(), sizes.tolist(), predicted.tolist(), max_wait, limit
    )
    check(run, (decide, clock))


@settings(max_examples=400)
@given(cases(), st.data(), st.integers(1, 5), moment)
def test_nested_wait(case, data, group, max_wait):
    """Any gates with groups of any size."""
    workload, memory, clock = case
    places = data.draw(st.sets(st.integers(1, 30), max_size=4))
    at = np.array([*sorted(places), NEVER])
    size = np.array(data.draw(st.lists(st.integers(1, 4), min_size=5, max_size=5)))[: len(at)]
    run = nested_wait(workload, memory, GateRule(at, size, group, max_wait), clock, silent)
    decide = plain_policies.nested_wait(at.tolist(), size.tolist(), group, max_wait)
    check(run, (decide, clock))


def test_static_keeps_what_has_finished():
    """(2, 1) and (2, 5): the short one's 3 tokens are held until round 5."""
    run = find_policy("static").run(Workload([0] * 3, [2] * 3, [1, 5, 1]), 14)
    assert run.finish.tolist() == [1, 5, 6]
    curve = memory_curve(run)
    assert curve.time.tolist() == [0, 1, 5, 6]
    assert curve.high.tolist() == [6, 10, 3]


def test_livelock_names_policy_and_fix():
    """Two of (2, 8) in M = 12 with alpha = 0 can never both end."""
    workload = Workload([0] * 2, [2] * 2, [8] * 2)
    with pytest.raises(Livelock, match=r"alpha-greedy is in livelock.* 2 requests .*raise al"):
        find_policy("alpha-greedy").run(workload, 12, alpha=0)
    assert issubclass(Livelock, InputError)
    assert find_policy("alpha-greedy").run(workload, 12, alpha=0.6).finish.tolist() == [8, 16]


def test_alpha_beta_is_the_same_for_the_same_seed():
    """And differs for another one."""
    rng = np.random.default_rng(1)
    workload = Workload(np.zeros(60), rng.integers(1, 9, 60), rng.integers(1, 30, 60))
    policy = find_policy("alpha-beta")
    finish = [policy.run(workload, 100, alpha=0.2, seed=seed).finish.tolist() for seed in (3, 3, 4)]
    assert finish[0] == finish[1] != finish[2]


@pytest.mark.parametrize("key", ONLINE)
@settings(max_examples=60)
@given(instance=instances(), clients=st.integers(1, 5), clock=CLOCKS, data=st.data())
def test_closed_loop(key, instance, clients, clock, data):
    """Never more requests in the system than clients, and the next comes as one finishes."""
    open_loop, memory = instance
    workload = replace(open_loop, concurrency=clients)
    policy = find_policy(key)
    params = data.draw(params_of(policy))
    run = run_if_possible(policy, workload, memory, clock=clock, **params)
    if run is None:
        return
    arrival, finished = run.workload.arrival, run.finished_at
    assert sorted(arrival)[clients:] == sorted(finished)[: max(0, len(arrival) - clients)]
    assert (run.started_at >= arrival).all()
    assert memory_curve(run).peak <= memory
