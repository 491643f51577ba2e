"""Look-ahead in a fixed order on plans that may be wrong does what its plain twin does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload, find_policy
from engine.admission_limits import NO_LIMITS
from engine.progress import silent
from engine.simulate.look_ahead import look_ahead
from engine.simulate.predicted_lengths import on_predicted_lengths
from engine.simulate.preempting import admission_limit
from engine.simulate.schedule import Walk
from tests.engine.simulate.test_clocks import CLOCKS, LOOPS, compare
from tests.engine.simulate.test_online_policies import outgrown_cases, predicted_cases, shares
from tests.twins import plain_replanning
from tests.twins.plain_server import PlainServer
from tests.twins.strategies import instances


def in_loop(case, concurrency):
    """The case with so many clients, in the order in which a closed loop takes the requests."""
    workload, memory, clock, predicted = case
    if concurrency:  # whose clients wait: nobody is turned away or gives up
        by_row = np.argsort(workload.row)
        workload, predicted = (
            replace(workload.take(by_row), admission_limits=NO_LIMITS),
            predicted[by_row],
        )
    return replace(workload, concurrency=concurrency), memory, clock, predicted


@settings(max_examples=1500)
@given(
    st.one_of(predicted_cases(), outgrown_cases()),
    LOOPS,
    st.booleans(),
    st.integers(0, 3),
    shares,
    st.randoms(use_true_random=False),
)
def test_wrong_predictions(case, concurrency, with_cache, skip, margin, random):
    """Any order, any predictions, any margin, open or closed loop, round for round."""
    workload, memory, clock, predicted = in_loop(case, concurrency)
    workload = replace(workload, with_cache=with_cache)
    order = list(range(len(workload)))
    random.shuffle(order)
    limit = admission_limit(memory, margin)
    planned = np.minimum(predicted, memory - workload.prompt)
    walk = Walk(np.array(order), skip, planned)
    run = on_predicted_lengths(workload, memory, walk, limit, clock, silent)
    decide = plain_replanning.on_predicted_lengths(order, predicted.tolist(), limit, skip)
    compare(run, PlainServer(workload, memory, clock).run(decide))


@settings(max_examples=600)
@given(instances(), CLOCKS, LOOPS, st.integers(0, 3), st.randoms(use_true_random=False))
def test_right_plans_are_plain_look_ahead(instance, clock, clients, skip, random):
    """The kernel for wrong plans, given right ones, is the quick kernel second for second."""
    workload, memory = instance
    workload = replace(workload, concurrency=clients)
    order = list(range(len(workload)))
    random.shuffle(order)
    order = np.array(order)
    slow = on_predicted_lengths(workload, memory, Walk(order, skip), memory, clock, silent)
    quick = look_ahead(workload, memory, order, skip, clock)
    assert slow.start.tolist() == quick.start.tolist()
    assert slow.finished_at == pytest.approx(quick.finished_at, rel=1e-12)
    assert not slow.gave_up_kv


@settings(max_examples=300)
@given(instances(), CLOCKS, shares)
def test_fcfs_that_is_told_nothing_is_vllm(instance, clock, margin):
    """Plans of one more token are present use: a margin is then vLLM's watermark."""
    workload, memory = instance
    blind = replace(workload, predicted=np.ones(len(workload)))
    ours = find_policy("fcfs").run(blind, memory, clock=clock, margin=margin)
    theirs = find_policy("vllm").run(workload, memory, clock=clock, watermark=margin)
    assert ours.start.tolist() == theirs.start.tolist()
    assert ours.finished_at.tolist() == theirs.finished_at.tolist()
    assert ours.recomputed.tolist() == theirs.recomputed.tolist()


def test_the_newest_returns_first():
    """(1, 6) and (1, 9) predicted 2 meet M = 12: the second goes, and is back before (1, 1)."""
    workload = Workload([0, 0, 6], [1, 1, 1], [6, 9, 1], predicted=[6, 2, 1])
    run = find_policy("fcfs").run(workload, 12)
    assert run.preemptions.tolist() == [0, 1, 0]
    assert run.recomputed.tolist() == [0, 6, 0]
    assert run.finish.tolist() == [6, 10, 7]


def test_a_margin_is_waived_for_an_empty_server():
    """A request between the limit and M runs alone, and does not hang."""
    run = find_policy("svf").run(Workload([0, 0], [5, 1], [4, 2]), 10, margin=0.9)
    assert run.start.tolist() == [2, 0]
    assert run.finish.tolist() == [6, 2]
