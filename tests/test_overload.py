"""The verdict knows a load that cannot be carried from one that can."""

import numpy as np
import pytest

from engine import Workload, find_policy
from engine.overload import verdict


def stream(gap, n=400):
    """(6, 4) every `gap` rounds: in M = 10 the server carries one every 4 rounds."""
    return Workload(np.arange(n) * gap, np.full(n, 6), np.full(n, 4))


@pytest.mark.parametrize(
    ("gap", "kind"), [(8, "stable"), (4.0, "stable"), (3.9, "saturated"), (3, "overloaded")]
)
def test_verdict_by_load(gap, kind):
    """Half load, just carried, 2.6 % too much, a third too much."""
    found = verdict(find_policy("fcfs").run(stream(gap), 10))
    assert found.kind == kind
    assert found.is_steady == (kind != "overloaded")


def test_left_over_is_the_share_not_served():
    """At one arrival every 3 rounds and one service every 4, a quarter is left over."""
    found = verdict(find_policy("fcfs").run(stream(3, 4000), 10))
    assert found.left_over == pytest.approx(0.25, abs=0.01)
    assert "Overloaded" in found.in_words()
    assert "grow with the horizon" in found.in_words()


def test_backlog_and_short_runs_are_not_judged():
    """There is no span in which to see a drift."""
    assert verdict(find_policy("fcfs").run(stream(0), 10)).kind == "backlog"
    assert verdict(find_policy("fcfs").run(stream(3, 20), 10)).kind == "too short"


def test_in_system_by_hand():
    """(1, 10) arrives at 0 and (1, 10) at 10: one of them is in the system all the time."""
    workload = Workload(np.arange(60) * 10, np.ones(60, int), np.full(60, 10))
    found = verdict(find_policy("fcfs").run(workload, 11))
    assert (found.middle, found.late) == (pytest.approx(1), pytest.approx(1))
