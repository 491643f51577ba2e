"""The bound by shortest remaining work."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Workload, find_method, find_policy
from engine.bounds.srpt import least_total_latency
from engine.machine.clock import seconds_clock
from tests.twins.strategies import instances

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


@settings(max_examples=60)
@given(instances(max_n=6, max_memory=30), st.integers(0, 6), st.integers(0, 64), st.integers(0, 64))
def test_bounds_of_a_rush_hour_and_of_a_night_add_up(instance, knee, c2, c3):
    """Far apart, each is bounded in the way that says most for it; no run is below the sum."""
    rush, memory = instance
    clock = seconds_clock(0.5, 0.25, knee, c2 / 512, c3 / 64)
    night = Workload([0.0, 9_000.0], [1, 1], [1, memory - 1])
    both = Workload(
        *(
            np.append(ours, theirs)
            for ours, theirs in (
                (rush.arrival, night.arrival + 90_000.0),
                (rush.prompt, night.prompt),
                (rush.output, night.output),
            )
        )
    )
    srpt = find_method("srpt")
    rows = [srpt.bounds(w, memory, clock=clock) for w in (rush, night, both)]
    for of_rush, of_night, of_both in zip(*rows, strict=True):
        assert of_both.value == pytest.approx(of_rush.value + of_night.value, rel=1e-9)
    for key in ("svf", "vllm"):
        run = find_policy(key).run(both, memory, clock=clock)
        assert run.latency.sum() >= rows[2][1 if run.gave_up_kv else 0].value


def test_only_in_seconds():
    """The message names the bounds that there are in rounds, and the other way round."""
    workload = Workload([0.0], [1], [1])
    with pytest.raises(InputError, match=r"srpt holds in seconds only: in rounds use .*lp"):
        find_method("srpt").bounds(workload, 10)
    with pytest.raises(InputError, match=r"lp holds in rounds only: in seconds use .*srpt"):
        find_method("lp").bounds(workload, 10, clock=seconds_clock(1.0))
