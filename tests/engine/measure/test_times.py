"""The times of requests agree with hand-computed ones."""

import numpy as np
import pytest

from engine import Workload, find_policy
from engine.measure.times import REQUEST_TIMES, queueing, request_time, tpot, ttft


@pytest.fixture
def head_of_line():
    """(10, 10), (10, 1), (10, 1) in M = 22 under fcfs: the third waits for the first.

    Round by round the memory is 22, 12, 13, .., 20, then 11.
    """
    workload = Workload([0, 0, 0.5], [10, 10, 10], [10, 1, 1], [0, 1, 1], ("long", "short"))
    return find_policy("fcfs").run(workload, 22)


def test_latencies_by_hand(head_of_line):
    """Starts 0, 0, 1.. : the third is seen in round 1 and must wait for the completion at 10."""
    assert head_of_line.start.tolist() == [0, 0, 10]
    assert head_of_line.latency.tolist() == [10, 1, 10.5]
    assert ttft(head_of_line).tolist() == [1, 1, 10.5]
    assert queueing(head_of_line).tolist() == [0, 0, 9.5]
    assert tpot(head_of_line)[0] == 1
    assert np.isnan(tpot(head_of_line)[1:]).all()


def test_every_time_has_a_value_a_request(head_of_line):
    """In the clock's unit, and found again by the title that pages and links have."""
    for time in REQUEST_TIMES:
        assert request_time(time.title) is time
        values = time.of(head_of_line)
        assert values.shape == (3,)
        assert (values[~np.isnan(values)] >= 0).all()
    assert len({time.name for time in REQUEST_TIMES}) == len(REQUEST_TIMES)
