"""Limits, and who is served within them."""

import pytest

from engine import InputError, Workload, find_policy
from engine.measure.fairness import in_words, price_table, who_pays
from engine.measure.league import league
from engine.measure.slo import Slo, attained, attainment_table

WORKLOAD = Workload([0, 0, 0], [5, 6, 6], [5, 1, 1], [1, 0, 0], ("quick", "slow"))


def entries(*keys):
    return league([find_policy(key).run(WORKLOAD, 10) for key in keys], [])


def test_attained_by_hand():
    """fcfs in M = 10: starts at 0, 5, 6; latencies 5, 6, 7; TTFT 1, 6, 7; TPOT 1, -, -."""
    run = find_policy("fcfs").run(WORKLOAD, 10)
    within = attained(run, Slo(ttft=1, latency=6))
    assert within["ttft"].tolist() == [True, False, False]
    assert within["latency"].tolist() == [True, True, False]
    assert within["all"].tolist() == [True, False, False]
    assert attained(run, Slo(tpot=0.5))["all"].tolist() == [False, True, True]


def test_table_has_shares_and_goodput():
    """One of three within 7 rounds of makespan."""
    table = attainment_table(entries("fcfs"), Slo(ttft=1))
    assert table.to_dict("records") == [
        {"policy": "fcfs", "ttft": 1 / 3, "all": 1 / 3, "goodput": 1 / 7}
    ]


def test_no_limit_is_always_met():
    """And goodput is throughput."""
    table = attainment_table(entries("svf"), Slo())
    assert table["all"].tolist() == [1.0]


def test_bad_limit_is_named():
    """Negative and endless limits are refused."""
    with pytest.raises(InputError, match="SLO on ttft"):
        Slo(ttft=-1)


def test_who_pays():
    """svf runs the quick ones first, 5 rounds earlier, and the slow one 2 later."""
    svf, fcfs = entries("svf", "fcfs")
    quick, slow = who_pays(svf, fcfs)
    assert (quick.later, quick.mean_change, quick.worst) == (0, -5, 0)
    assert (slow.later, slow.mean_change, slow.worst) == (1, 2, 2)
    assert "33.3" in in_words(svf, fcfs)
    assert price_table([quick, slow])["Change of the mean"].tolist() == ["−5", "+2"]


def test_a_policy_costs_nobody_against_itself():
    """Said in words."""
    svf, _ = entries("svf", "fcfs")
    assert in_words(svf, svf).startswith("No request")
