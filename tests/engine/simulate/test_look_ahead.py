"""The look-ahead kernel starts exactly what a round-by-round twin starts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload
from engine.simulate.look_ahead import look_ahead
from tests.twins import twin
from tests.twins.strategies import instances


@settings(max_examples=3000)
@given(instances(), st.integers(0, 4), st.randoms(use_true_random=False))
def test_kernel_equals_twin(instance, skip, random):
    """Start for start, for any order, any skip, any arrivals."""
    workload, memory = instance
    order = list(range(len(workload)))
    random.shuffle(order)
    run = look_ahead(workload, memory, np.array(order), skip)
    assert run.start.tolist() == twin.look_ahead_starts(workload, memory, order, skip)


@settings(max_examples=300)
@given(instances(max_n=25, max_memory=120), st.integers(0, 8))
def test_kernel_equals_twin_on_longer_queues(instance, skip):
    """The same with enough requests to fill several words of the waiting set's parents."""
    workload, memory = instance
    order = workload.ascending(workload.volume)
    run = look_ahead(workload, memory, order, skip)
    assert run.start.tolist() == twin.look_ahead_starts(workload, memory, order.tolist(), skip)


def test_blocked_request_starts_between_two_completions():
    """Waiting alone can make room: the start is in a round in which nothing completes.

    (1, 8) holds 9 at its end, round 8. In M = 11, (1, 9) may hold at most 2 then, so it
    starts at 7; when it ends, in round 16, it is alone.
    """
    run = look_ahead(Workload([0, 0], [1, 1], [8, 9]), 11, np.array([0, 1]))
    assert run.start.tolist() == [0, 7]
    assert run.finish.tolist() == [8, 16]


@pytest.mark.parametrize(("memory", "second"), [(11, 0), (10, 0), (9, 1), (8, 2), (7, 3), (5, 3)])
def test_one_token_decides(memory, second):
    """(2, 3) beside (2, 3): in round 3 the first holds 5, the second 5, 4, 3 or nothing."""
    run = look_ahead(Workload([0, 0], [2, 2], [3, 3]), memory, np.array([0, 1]))
    assert run.start.tolist() == [0, second]


def test_unarrived_request_blocks_nobody():
    """The first choice arrives last; the others run before it is known."""
    workload = Workload([20, 0, 1.5], [5, 5, 5], [4, 4, 4])
    run = look_ahead(workload, 9, np.array([0, 1, 2]))
    assert run.start.tolist() == [20, 0, 4]


def test_skip_passes_over_that_many():
    """Two requests do not fit behind the running one; a walk with skip 1 stops at the second."""
    workload = Workload([0] * 4, [5, 9, 9, 1], [5, 1, 1, 1])
    starts = [look_ahead(workload, 10, np.arange(4), skip).start.tolist() for skip in (0, 1, 2)]
    assert starts == [[0, 5, 6, 7], [0, 5, 6, 7], [0, 5, 6, 0]]
