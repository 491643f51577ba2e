"""The bound by shortest remaining work."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Workload, find_method
from engine.bounds.srpt import least_total_latency
from engine.machine.clock import seconds_clock

times = st.integers(0, 40).map(lambda k: k / 8)


def plain_srpt(arrival, length):
    """Total latency, by always serving who has least left, event by event, in fractions."""
    left = {i: Fraction(w) for i, w in enumerate(length)}
    now, total = Fraction(min(arrival)), Fraction(0)
    while left:
        present = [i for i in left if arrival[i] <= now]
        coming = [Fraction(arrival[i]) for i in left if arrival[i] > now]
        if not present:
            now = min(coming)
            continue
        job = min(present, key=lambda i: left[i])
        until = min([now + left[job], *coming])
        left[job] -= until - now
        now = until
        if left[job] == 0:
            del left[job]
            total += now - Fraction(arrival[job])
    return float(total)


@settings(max_examples=1500)
@given(st.lists(st.tuples(times, times), min_size=1, max_size=12))
def test_kernel(jobs):
    """The plain schedule's value, and not above it."""
    arrival, length = (np.array(column, float) for column in zip(*jobs, strict=True))
    plain = plain_srpt(arrival.tolist(), length.tolist())
    found = least_total_latency(arrival, length)
    assert found <= plain
    assert found == pytest.approx(plain, abs=1e-9)


def test_late_first_arrivals_cost_no_digits():
    """Time counts from the first arrival, so that timestamps may be large."""
    rng = np.random.default_rng(1)
    arrival, length = rng.random(500) * 100, rng.random(500)
    late = least_total_latency(np.round(arrival * 64) / 64 + 2.0**34, length)
    assert late == pytest.approx(least_total_latency(np.round(arrival * 64) / 64, length))


def test_two_rows():
    """Time alone at light load; one row for runs that keep all, one for every run."""
    workload = Workload([0.0, 500.0], [100, 200], [30, 20])
    clock = seconds_clock(0.04, 0.0002, 90, 1e-7, 1e-4)
    kept, every = find_method("srpt").bounds(workload, 1000, clock=clock)
    assert (kept.bound, every.bound) == ("srpt", "srpt-preemptive")
    assert (kept.covers_preemption, every.covers_preemption) == (False, True)
    assert (kept.covers_cut_prompts, every.covers_cut_prompts) == (False, True)
    alone = sum(
        clock.step(s, 0, 0) + sum(clock.step(0, 1, x) for x in range(s + 1, s + o))
        for s, o in [(100, 30), (200, 20)]
    )
    assert kept.value == pytest.approx(alone)
    assert "alone" in kept.method
    assert every.value < kept.value


def test_only_in_seconds():
    """The message names the bounds that there are in rounds, and the other way round."""
    workload = Workload([0.0], [1], [1])
    with pytest.raises(InputError, match=r"srpt holds in seconds only: in rounds use .*lp"):
        find_method("srpt").bounds(workload, 10)
    with pytest.raises(InputError, match=r"lp holds in rounds only: in seconds use .*srpt"):
        find_method("lp").bounds(workload, 10, clock=seconds_clock(1.0))
