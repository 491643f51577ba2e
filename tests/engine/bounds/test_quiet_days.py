"""Bounds in seconds of a long quiet day: its parts, its bursts, and the cells of its prices."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    Workload,
    find_method,
    find_policy,
)
from engine.machine.clock import seconds_clock
from engine.proof.work.alone import time_alone
from engine.proof.work.prices import FINEST, searches
from engine.proof.work.proof import MAX_CELLS, MAX_EFFORT
from tests.engine.bounds.test_seconds import H100, WIDE, all_bounds, check_not_beaten
from tests.engine.policies.test_laws import run_unless_stuck
from tests.twins.strategies import instances

NO_STEP = seconds_clock(0.0, 0.0, 0.0, 0.0, 0.1)


@pytest.mark.parametrize(
    ("workload", "clock"),
    [
        (Workload([0.0, 400_000.0], [500] * 2, [100] * 2), H100),
        (Workload(np.linspace(0.0, 86_400.0, 20), [500] * 20, [100] * 20), H100),
        (Workload([0.0, 0.0, 1.0, 9e5], [5] * 4, [9] * 4), NO_STEP),
        (Workload([0.0] * 3 + [1e6] * 3, [900] * 6, [1, 100, 3_000] * 2), H100),
        (Workload([0.0] * 300, [1] * 300, [3_000] * 300), H100),
    ],
)
@pytest.mark.parametrize("every_run", [False, True])
def test_cells_have_an_upper_limit(workload, clock, every_run):
    """Of long quiet traces and tiny steps too: the arrays of the last word stay small."""
    found = searches(workload, 4_000, clock, 1, every_run)
    fine = [search.fine for search in found]
    assert sum(f.cells.count for f in fine) <= 1.01 * FINEST + 100 * len(fine)
    assert FINEST <= MAX_CELLS / 4
    assert sum(f.effort for f in fine) <= MAX_EFFORT
    for search in found:
        assert search.coarse.cells.count <= 2_001
        before = search.fine.at(np.zeros((len(search.envelopes), search.fine.cells.count)))
        assert before.prices.nbytes <= 16 * 1.01 * FINEST + 1_600


def burst(at, n=9):
    return [float(at)] * n


@pytest.mark.parametrize(
    "arrival",
    [
        [*burst(0), 86_400.0],
        [0.0, *burst(43_200), 86_400.0],
        [*burst(0), *burst(20_000), 40_000.0, *burst(86_400)],
    ],
)
def test_bursts_in_a_long_quiet_day(arrival):
    """Quiet costs no price: bursts apart say what each says by itself, and more than srpt."""
    n = len(arrival)
    workload = Workload(arrival, [900] * n, [100] * n)
    rows = {bound.bound: bound for bound in all_bounds(workload, 1_100, H100)}
    times = np.unique(arrival)
    alone = [
        find_method("prices").bounds(workload.take(workload.arrival == at), 1_100, clock=H100)
        for at in times
    ]
    for name, by_time in zip(
        ("prices", "prices-preemptive"), zip(*alone, strict=True), strict=True
    ):
        assert rows[name].value == pytest.approx(sum(b.value for b in by_time), rel=1e-2)
    assert rows["prices"].value > rows["srpt"].value
    for key in ("svf", "mc-sf", "vllm"):
        check_not_beaten(find_policy(key).run(workload, 1_100, clock=H100), rows.values())


@settings(max_examples=150)
@given(st.data(), instances(max_n=7, max_memory=30), WIDE, st.integers(1, 3))
def test_parts_are_cut_where_all_is_idle(data, instance, clock, replicas):
    """Every request is in one part, in order of time; none arrives while another part runs."""
    workload, memory = instance
    arrival = workload.arrival * data.draw(st.sampled_from([0.1, 1.0, 30.0]))
    workload = replace(workload, arrival=arrival)
    found = searches(workload, memory, clock, replicas, every_run=False)
    assert sum(len(search.completion) for search in found) == len(workload)
    assert sum(search.share for search in found) == pytest.approx(1.0)
    assert found[0].begin == 0.0
    for one, other in pairwise(found):
        assert one.begin + one.completion.max() <= other.begin * (1 + 1e-12)
    # Whatever the parts, no run is below the sum.
    bounds = find_method("prices").bounds(workload, memory, clock=clock)
    for key in ("svf", "mc-sf", "vllm"):
        run = run_unless_stuck(find_policy(key), workload, memory, clock=clock)
        assert run is None or check_not_beaten(run, bounds) in (0, 1, 2)


def test_the_history_of_parts_ends_near_their_sum():
    """It goes from every request alone to the bound, and never falls."""
    workload = Workload([*burst(0), *burst(5_000)], [900] * 18, [100] * 18)
    (row, _) = find_method("prices").bounds(workload, 1_100, clock=H100)
    taken, values = zip(*row.history, strict=True)
    assert list(taken) == sorted(taken)
    assert list(values) == sorted(values)
    assert values[0] == pytest.approx(time_alone(workload, H100.step).total.sum(), rel=1e-6)
    assert values[-1] == pytest.approx(row.value, rel=0.05)
