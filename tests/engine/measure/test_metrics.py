"""Metrics agree with hand-computed numbers and with a walk over every round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import POLICIES, Workload, find_policy
from engine.metrics import (
    memory_curve,
    peak_batch,
    per_request,
    queueing,
    summary,
    tpot,
    ttft,
)
from tests.twins.strategies import instances


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


def test_summary_by_hand(head_of_line):
    """Every field of the league row."""
    row = summary(head_of_line)
    assert row["total_latency"] == 21.5
    assert row["p50_latency"] == 10
    assert row["p90_latency"] == pytest.approx(10.4)
    assert row["mean_tpot"] == 1
    assert row["makespan"] == 11
    assert row["output_tokens_per_time"] == pytest.approx(12 / 11)
    assert row["peak_memory"] == 22
    assert (row["preemptions"], row["recomputed_tokens"], row["gave_up_kv"]) == (0, 0, False)
    assert {name: part["n"] for name, part in row["classes"].items()} == {"long": 1, "short": 2}
    assert row["classes"]["short"]["mean_latency"] == 5.75
    assert row["classes"]["short"]["mean_tpot"] is None


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


def test_per_request_keeps_every_row():
    """Rows set aside stay in the table, empty and labelled, in the trace's order."""
    workload = Workload([0, 0, 3], [4, 40, 4], [2, 2, 1])
    table = per_request(find_policy("svf").run(workload, 10), workload)
    assert table["index"].tolist() == [0, 1, 2]
    assert table["status"].tolist() == ["finished", "set aside: needs more than M", "finished"]
    assert table["finish"].isna().tolist() == [False, True, False]
    assert table["start"].dropna().tolist() == [0, 3]
    assert list(table.columns) == [
        "index", "class", "arrival", "prompt", "output", "start", "first_token", "finish",
        "ttft", "tpot", "preemptions", "status",
    ]  # fmt: skip


def test_per_request_of_a_closed_loop_adds_up():
    """Arrivals are when requests came, not what the trace said: latencies add up to the total."""
    workload = Workload([0, 1, 2, 3], [3] * 4, [4] * 4, concurrency=2)
    run = find_policy("mc-sf").run(workload, 10)
    table = per_request(run, workload)
    assert (table["finish"] - table["arrival"]).sum() == summary(run)["total_latency"]
    assert (table["first_token"] - table["arrival"]).tolist() == table["ttft"].tolist()


def test_metrics_react_to_a_bad_policy():
    """Largest volume first is much worse than smallest first on a mixed backlog."""
    lengths = np.array([5, 80] * 50)
    workload = Workload(np.zeros(100), lengths, lengths)
    means = {key: summary(POLICIES[key].run(workload, 400))["mean_latency"] for key in
             ("svf", "reverse")}  # fmt: skip
    assert means["reverse"] > 1.5 * means["svf"]


def test_peak_batch():
    """Two at once, and a third only as one of them leaves."""
    run = find_policy("vllm").run(Workload([0, 0, 0], [1, 1, 1], [3, 5, 2]), 50, max_num_seqs=2)
    assert peak_batch(run) == 2
