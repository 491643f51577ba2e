"""A long time axis is cut at rests: bounds stay bounds, and cost nothing where nobody runs."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Scenario, Workload, find_method, find_policy, generate
from engine.evidence.certificate import certificate, check
from engine.evidence.losses import loss_of, pricing_bound
from engine.measure.league import league
from engine.proof.busy_periods import REST, busy_periods
from tests.twins.brute_force import best_total_latency
from tests.twins.strategies import instances

METHODS = ("fluid", "prices", "lp", "hindsight")


def one_after_another(parts, rest):
    """The requests of several workloads, each `rest` rounds after the one before could end."""
    begin, columns = 0, []
    for part in parts:
        columns.append((part.arrival + begin, part.prompt, part.output))
        begin += int(np.ceil(part.arrival.max())) + int(part.output.sum()) + rest
    return Workload(*(np.concatenate(column) for column in zip(*columns, strict=True)))


@settings(max_examples=60)
@given(st.lists(instances(max_n=3, max_memory=12), min_size=2, max_size=3), st.data())
def test_bounds_of_parts_add_up(parts, data):
    """Far apart, the optimum is the sum of the optima; every row stays below, the exact one meets.

    The certificate of the whole holds, and a run's gap still splits exactly.
    """
    memory = max(m for _, m in parts)
    workloads = [workload for workload, _ in parts]
    whole = one_after_another(workloads, data.draw(st.integers(REST + 20, 10**8)))
    shuffled = whole.take(np.array(data.draw(st.permutations(range(len(whole))))))
    optimum = sum(best_total_latency(workload, memory) for workload in workloads)
    for key in METHODS:
        bounds = find_method(key).bounds(shuffled, memory)
        assert all(bound.value <= optimum + 1e-6 for bound in bounds)
    assert bounds[0].value == pytest.approx(optimum)
    bounds = find_method("lp").bounds(shuffled, memory)
    assert check(certificate(bounds, shuffled, memory), shuffled).holds
    (entry,) = league([find_policy("svf").run(shuffled, memory)], bounds)
    loss = loss_of(entry, pricing_bound(entry, bounds))
    total = entry.numbers["total_latency"]
    assert loss.value + loss.rounds == pytest.approx(total, rel=1e-12, abs=1e-6)


def test_crowded_periods_are_bounded_one_by_one():
    """The same burst three times is thrice the bound of one, whatever the years between."""
    burst = Workload([0] * 6, [2] * 6, [3] * 6)
    for rest in (REST, 10**11):
        whole = one_after_another([burst] * 3, rest)
        for key in METHODS:
            once, thrice = (find_method(key).bounds(w, 10) for w in (burst, whole))
            assert [b.bound for b in once] == [b.bound for b in thrice]
            for one, three in zip(once, thrice, strict=True):
                assert three.value == pytest.approx(3 * one.value)
                assert three.covers_preemption == one.covers_preemption
    assert "sum over 3 busy periods" in find_method("lp").bounds(whole, 10)[0].method


def test_never_rising_prices_may_rise_again_after_a_rest():
    """The row for every run is the sum of the parts', not what one falling price line proves."""
    burst = generate(Scenario(n=40))
    whole = one_after_another([burst] * 2, REST)
    every = find_method("fluid").bounds(whole, 16_492)[-1]
    alone = find_method("fluid").at_once(whole, 16_492)[-1]
    assert every.covers_preemption
    assert every.value > 1.01 * alone.value


def test_short_rests_are_not_cut():
    """A rest one round too short stays in."""
    burst = Workload([0] * 6, [2] * 6, [3] * 6)
    volume = int(np.ceil(burst.volume.sum() / 10))
    for rest, parts in ((REST - 1, 1), (REST, 2)):
        arrival = np.append(burst.arrival, burst.arrival + volume + rest)
        whole = Workload(arrival, [2] * 12, [3] * 12)
        assert len(busy_periods(whole, 10)) == parts


def test_requests_that_all_fit_are_one_period():
    """Light load: nothing to solve, and the bound is met by serving each at once."""
    workload = generate(Scenario(n=500, arrivals="poisson", rate=0.001))
    (period,) = busy_periods(workload, 16_492)
    assert not period.is_crowded
    (bound,) = find_method("hindsight").bounds(workload, 16_492)
    assert bound.value == pytest.approx(find_policy("fcfs").run(workload, 16_492).latency.sum())
    assert bound.covers_preemption


@pytest.mark.parametrize("key", METHODS)
def test_the_clock_of_a_log_does_not_matter(key):
    """Epoch seconds: the same bounds to a rounding, in no more time than from 0 on."""
    rng = np.random.default_rng(4)
    arrival = np.sort(rng.integers(0, 200, 12)) / 8
    lengths = rng.integers(3, 12, 12), rng.integers(2, 12, 12)
    early = find_method(key).bounds(Workload(arrival, *lengths), 40)
    late = find_method(key).bounds(Workload(arrival + 1.7e9, *lengths), 40)
    for one, other in zip(early, late, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert one.bound == other.bound


@pytest.mark.parametrize("rate", [0.0001, 0.001, 0.01, 0.05, 0.1])
def test_fluid_is_quick_at_every_rate(rate):
    """Half a second for 2,000 requests, or declared as dear."""
    fluid = find_method("fluid")
    fluid.bounds(generate(Scenario(n=50, arrivals="poisson", rate=0.3)), 16_492)  # compiles
    workload = generate(Scenario(n=2000, arrivals="poisson", rate=rate))
    begun = time.perf_counter()
    fluid.bounds(workload, 16_492)
    assert time.perf_counter() - begun < 0.5 or fluid.cost(workload, 16_492) >= 0.5


@pytest.mark.parametrize("key", METHODS)
def test_what_cannot_be_kept_by_round_is_refused(key):
    """Outputs of a thousand million tokens: a sentence and an infinite cost, not 2 TiB."""
    rng = np.random.default_rng(1)
    n = 30
    workload = Workload(np.zeros(n), rng.integers(1, 10**9, n), rng.integers(1, 10**9, n))
    method = find_method(key)
    if key != "hindsight":
        assert method.cost(workload, 2 * 10**9) == np.inf
    with pytest.raises(InputError):
        method.bounds(workload, 2 * 10**9)


@pytest.mark.parametrize("key", ["best-found", "sorted-lp", "lp-swap", "hindsight"])
def test_planned_policies_count_from_the_first_arrival(key):
    """A log in epoch seconds is scheduled like one from 0 on."""
    early = Workload([0.0] * 6, [2] * 6, [3] * 6)
    late = Workload([1.7e9] * 6, [2] * 6, [3] * 6)
    runs = [find_policy(key).run(workload, 10) for workload in (early, late)]
    assert (runs[1].start - 1_700_000_000 == runs[0].start).all()


def test_best_found_refuses_what_it_cannot_keep():
    """Two bursts a thousand million rounds apart: more than a profile by round holds."""
    burst = Workload([0] * 6, [2] * 6, [3] * 6)
    with pytest.raises(InputError, match="best-found keeps the memory of every round"):
        find_policy("best-found").run(one_after_another([burst] * 2, 10**9), 10)


@pytest.mark.parametrize("key", ["lp", "prices"])
def test_both_rows_are_there_also_where_nothing_is_to_be_solved(key):
    """Whoever asks for a row by its name finds it; the first never claims more than its kind."""
    rows = find_method(key).bounds(Workload([0, 1.5], [2, 3], [3, 2]), 100)
    assert [row.bound for row in rows] == [key, f"{key}-preemptive"]
    assert [row.covers_preemption for row in rows] == [False, True]
    assert rows[0].value == rows[1].value == pytest.approx(5.5)


def test_a_short_rest_is_cut_for_prices_that_never_rise():
    """Two crowds of four and one early: 21 rounds whatever is done; whole, the price is 0 and 9."""
    workload = Workload([28] * 4 + [32] * 4 + [20], [1] * 9, [1] * 9)
    for key in ("fluid", "prices", "lp"):
        method = find_method(key)
        assert method.at_once(workload, 2)[-1].value == pytest.approx(9)
        rows = method.bounds(workload, 2)
        assert [row.covers_preemption for row in rows] == [False, True]
        assert [row.value for row in rows] == pytest.approx([21, 21])
        assert check(certificate(rows, workload, 2), workload).holds


@settings(max_examples=60)
@given(instances(max_n=7, max_memory=16), st.sampled_from(["fluid", "lp"]))
def test_a_cut_at_short_rests_costs_nothing(instance, key):
    """No row is below that of the whole, the certificate covers the parts, and gaps still split."""
    workload, memory = instance
    method = find_method(key)
    whole, rows = method.at_once(workload, memory), method.bounds(workload, memory)
    assert rows[0].value >= max(row.value for row in whole) * (1 - 1e-12)
    assert rows[-1].covers_preemption
    assert rows[-1].value >= whole[-1].value * (1 - 1e-12)
    assert all(
        finding.holds for finding in check(certificate(rows, workload, memory), workload).findings
    )
    for policy in ("svf", "vllm"):
        (entry,) = league([find_policy(policy).run(workload, memory)], rows)
        loss = loss_of(entry, pricing_bound(entry, rows))
        assert loss.value + loss.rounds == pytest.approx(entry.numbers["total_latency"])


@settings(max_examples=60)
@given(instances(max_n=6, max_memory=14, fractional=False, backlog=False), st.data())
def test_one_request_more_lowers_no_row(instance, data):
    """Of a few: also one that comes before all others, as rests are cut out.

    Within a round nothing is cut, so arrivals are whole.
    """
    workload, memory = instance
    fewer = np.delete(np.arange(len(workload)), data.draw(st.integers(0, len(workload) - 1)))
    if len(fewer) == 0:
        return
    more, less = (find_method("lp").bounds(w, memory) for w in (workload, workload.take(fewer)))
    for row, of_fewer in zip(more, less, strict=True):
        assert row.value >= of_fewer.value * (1 - 1e-6)


def test_one_request_more_may_lower_the_row_of_every_run():
    """A (15, 5) whose fluid lasts until twenty (1, 2) come: what it leaves free is theirs."""
    crowd = Workload([4] * 20, [1] * 20, [2] * 20)
    more = Workload([0] + [4] * 20, [15] + [1] * 20, [5] + [2] * 20)
    lp = find_method("lp")
    kept, every = (row.value for row in lp.bounds(crowd, 20))
    kept_of_more, every_of_more = (row.value for row in lp.bounds(more, 20))
    assert kept_of_more >= kept + 5
    assert every_of_more == pytest.approx(49.67, abs=0.01)
    assert every == pytest.approx(69.63, abs=0.01)
    for key in ("svf", "vllm"):  # no run is below the two parts added up, either
        assert find_policy(key).run(more, 20).latency.sum() >= every + 5
