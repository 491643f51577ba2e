"""The memory curve is that of a walk over every round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload, find_policy
from engine.memory_curve import memory_curve, peak_batch
from tests.twins.strategies import instances


@pytest.fixture
def head_of_line():
    """(10, 10), (10, 1), (10, 1) in M = 22 under fcfs: the third waits for the first.

    Round by round the memory is 22, 12, 13, .., 20, then 11.
    """
    workload = Workload([0, 0, 0.5], [10, 10, 10], [10, 1, 1], [0, 1, 1], ("long", "short"))
    return find_policy("fcfs").run(workload, 22)


def test_memory_curve_by_hand(head_of_line):
    """Change points of the curve: two run in round 1, one to round 10, one in round 11."""
    curve = memory_curve(head_of_line)
    assert curve.time.tolist() == [0, 1, 10, 11]
    assert curve.low.tolist() == [20, 11, 10]
    assert curve.high.tolist() == [22, 20, 11]
    assert curve.mean == pytest.approx((22 + sum(range(12, 21)) + 11) / 11)


@settings(max_examples=400)
@given(instances(), st.sampled_from(["fcfs", "svf", "vllm"]))
def test_memory_curve_equals_a_walk(instance, key):
    """At the end of every round the curve says what the stays hold, by class too."""
    workload, memory = instance
    run = find_policy(key).run(workload, memory)
    first_half = np.arange(len(workload)) < len(workload) / 2
    for of in (None, first_half):
        curve = memory_curve(run, of)
        for piece, alive in enumerate(curve.alive):
            for at in range(curve.time[piece] + 1, curve.time[piece + 1] + 1):
                walked = sum(
                    held + at - begin
                    for i, begin, end, held in zip(
                        run.residencies.request,
                        run.residencies.begin,
                        run.residencies.end,
                        run.residencies.held,
                        strict=True,
                    )
                    if begin < at <= end and (of is None or of[i])
                )
                assert curve.low[piece] + alive * (at - curve.time[piece]) == walked


def test_peak_batch():
    """Two at once, and a third only as one of them leaves."""
    run = find_policy("vllm").run(Workload([0, 0, 0], [1, 1, 1], [3, 5, 2]), 50, max_num_seqs=2)
    assert peak_batch(run) == 2
