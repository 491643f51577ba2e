"""Starts, totals, preemptions and bounds of cases solved by an independent reference.

A dozen of the cases lie beside this test; the whole collection is used where the
shared folder is present.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from engine import Workload, find_method, find_policy, gap
from engine.machine.clock import seconds_clock
from engine.measure.metrics import summary

OURS = json.loads((Path(__file__).parent / "known_answers.json").read_text())


def workload_of(case):
    return Workload(*(case[column] for column in ("arrival", "prompt", "output")))


def check_policies(case):
    workload = workload_of(case)
    for key, start in case["start"].items():
        run = find_policy(key).run(workload, case["memory"])
        assert run.start.tolist() == start, (case["name"], key)
        assert run.latency.sum() == case["total_latency"][key]
    run = find_policy("vllm").run(workload, case["memory"])
    assert run.latency.sum() == case["vllm"]["total_latency"], case["name"]
    assert run.preemptions.sum() == case["vllm"]["preemptions"]


def check_bounds(case):
    """The same LP, cumulative LP and optimum, and prices that reach both LPs and pass neither."""
    workload, memory = workload_of(case), case["memory"]
    rows = {
        bound.bound: bound
        for key in ("lp", "prices", "hindsight")
        for bound in find_method(key).bounds(workload, memory)
    }
    assert all(bound.certified for bound in rows.values())
    assert rows["hindsight"].value == pytest.approx(case["hindsight"])
    assert rows["lp"].value == pytest.approx(case["lp"], rel=1e-6, abs=1e-6)
    assert within(rows["prices"].value, case["lp"])
    every = rows["lp-preemptive"].value, rows["prices-preemptive"].value
    if workload.arrival.min() == 0:
        assert every[0] == pytest.approx(case["cumulative_lp"], rel=1e-6, abs=1e-6)
        assert within(every[1], case["cumulative_lp"])
    else:  # ours counts memory from the first arrival on, and may be better for it
        assert case["cumulative_lp"] - 1e-5 <= every[0] <= rows["lp"].value + 1e-6
        assert within(every[1], every[0])
    for name in ("lp-preemptive", "prices-preemptive"):
        assert rows[name].covers_preemption
        assert rows[name].value <= case["vllm"]["total_latency"] + 1e-6


def within(value, optimum):
    """Not above the optimum but for its own rounding, and at most 0.01 % below."""
    return (1 - 1e-4) * optimum <= value <= optimum + 1e-6 * optimum


def check_seconds(case):
    """Each policy is named with its parameters, as in `vllm watermark=0.05`."""
    workload, memory = workload_of(case), case["memory"]
    given = case["coefficients"]
    clock = seconds_clock(*(given[name] for name in ("c0", "c1", "N0", "c2", "c3")))
    bounds = [
        bound
        for key in ("srpt", "prices")
        for bound in find_method(key).bounds(workload, memory, clock=clock)
    ]
    best = {every: max(b.value for b in bounds if b.covers_preemption >= every) for every in (0, 1)}
    assert best[0] >= case["srpt_bound"] * (1 - 1e-9)
    assert best[1] >= case["srpt_bound_any_policy"] * (1 - 1e-9)
    for name, told in case["policies"].items():
        key, *params = name.split()
        params = dict(param.split("=") for param in params)
        run = find_policy(key).run(workload, memory, clock=clock, **params)
        found = summary(run)
        for field, value in told.items():
            assert found[field] == pytest.approx(value, rel=1e-6), (case["name"], name, field)
        assert gap(run, bounds) is None or gap(run, bounds) >= 1


@pytest.mark.parametrize("case", OURS, ids=lambda case: case["name"])
def test_policies(case):
    """Start for start."""
    check_policies(case)


@pytest.mark.parametrize("case", OURS, ids=lambda case: case["name"])
def test_bounds(case):
    """LP, cumulative LP and the integer optimum."""
    check_bounds(case)


@pytest.fixture(scope="session")
def golden(shared):
    return json.loads((shared / "cases" / "golden.json").read_text())["rounds"]


@pytest.fixture(scope="session")
def golden_seconds(shared):
    return json.loads((shared / "cases" / "golden.json").read_text())["seconds"]


def test_seconds(golden_seconds):
    """Totals, TTFT and preemptions on the seconds clock, and bounds no worse than SRPT's."""
    for case in golden_seconds:
        check_seconds(case)


def test_all_policies(golden):
    """The whole collection."""
    for case in golden:
        check_policies(case)


def test_all_bounds(golden):
    """The whole collection."""
    for case in golden:
        check_bounds(case)


@pytest.mark.parametrize(
    ("memory", "ratio"), [(100, 2.71), (400, 4.97), (900, 7.32), (1600, 9.44), (2500, 11.67)]
)
def test_shortest_output_first_is_unboundedly_bad(memory, ratio):
    """sqrt(M) requests (M-1, 1) and M requests (1, 2): MC-SF runs the fat ones first."""
    fat = int(memory**0.5)
    workload = Workload(
        np.zeros(fat + memory), [memory - 1] * fat + [1] * memory, [1] * fat + [2] * memory
    )
    shortest_output = find_policy("mc-sf").run(workload, memory).latency.sum()
    thin_first = find_policy("shortest-prompt").run(workload, memory).latency.sum()
    assert shortest_output / thin_first == pytest.approx(ratio, abs=0.005)
    assert find_policy("svf").run(workload, memory).latency.sum() == thin_first


@pytest.mark.parametrize(
    ("side", "ratio"), [(4, 1.52), (16, 2.91), (36, 4.33), (64, 5.67), (100, 7.00)]
)
def test_smallest_total_first_is_unboundedly_bad(side, ratio):
    """20 of (L^2, L) and 20 sqrt(L) of (L^2 + L, 1): total size runs the slow ones first."""
    slow, quick = 20, int(20 * side**0.5)
    workload = Workload(
        np.zeros(slow + quick),
        [side**2] * slow + [side**2 + side] * quick,
        [side] * slow + [1] * quick,
    )
    memory = 20 * (side**2 + side + 1)
    by_total = find_policy("shortest-total").run(workload, memory).latency.sum()
    quick_first = find_policy("mc-sf").run(workload, memory).latency.sum()
    assert by_total / quick_first == pytest.approx(ratio, abs=0.005)
