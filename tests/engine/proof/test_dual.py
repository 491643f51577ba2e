"""The dual function is exact, bounds what it says it bounds, and splits the gap."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine import InputError, Scenario, Workload, find_method, find_policy, generate
from engine.proof.dual import convex_prices, evaluate, gap_split
from tests.twins.brute_force import best_total_latency, dual_function
from tests.twins.strategies import instances

PRICES = st.lists(st.floats(0, 2, width=32), max_size=25).map(np.array)


@settings(max_examples=1500)
@given(instances(), PRICES)
def test_value_is_exact_and_rounded_down(instance, prices):
    """Never above the definition at its own prices, and below it by next to nothing."""
    workload, memory = instance
    dual = evaluate(workload, memory, prices)
    exact = dual_function(workload, memory, dual.prices)
    assert Fraction(dual.value) <= exact
    assert float(exact) - dual.value <= 1e-9 * max(1.0, abs(float(exact)))
    given_prices = dual_function(workload, memory, prices)
    assert dual.value == pytest.approx(float(given_prices), rel=1e-6, abs=1e-6)


@settings(max_examples=300)
@given(instances(max_n=3, max_memory=14), PRICES)
def test_bounds_the_optimum(instance, prices):
    """At any prices, with and without arrivals, whole or fractional."""
    workload, memory = instance
    assert evaluate(workload, memory, prices).value <= best_total_latency(workload, memory) + 1e-9


@settings(max_examples=600)
@given(instances(max_memory=16), PRICES, st.floats(0, 0.5))
def test_prices_that_never_rise_bound_preemptive_runs(instance, prices, watermark):
    """Whatever a run lost and prefilled again."""
    workload, memory = instance
    falling = np.sort(prices)[::-1]
    dual = evaluate(workload, memory, falling)
    assert dual.covers_preemption
    run = find_policy("vllm").run(workload, memory, watermark=watermark)
    assert dual.value <= run.latency.sum() + 1e-9


def test_rising_prices_do_not_bound_preemptive_runs():
    """(2, 3) x 6 in M = 10: prices that rise reach more than the 33 that vllm needs."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    (lp, _) = find_method("lp").bounds(workload, 10)
    dual = evaluate(workload, 10, lp.prices[0].by_round)
    assert dual.value > 33
    assert not dual.covers_preemption


@pytest.mark.parametrize(("wrong_by", "sound"), [(0, True), (1, False), (-1, False)])
def test_one_round_decides(wrong_by, sound):
    """(1, 2) and (2, 1) in M = 3 at a price of 1/3 in round 1 and 1/4 in round 2, by hand.

    (1, 2) holds 2 and 3 from round 1 on, or 2 in round 2 if started at 1; (2, 1) holds 3 in
    its only round. A charge taken one round early or late gives another value.
    """
    workload = Workload([0, 0], [1, 2], [2, 1])
    prices = np.array([0, 1 / 3, 0.25, 0])
    by_hand = min(2 + 2 / 3 + 3 / 4, 3 + 2 / 4, 4) + min(1 + 1, 2 + 3 / 4, 3) - 3 * (1 / 3 + 1 / 4)
    shifted = np.roll(prices, wrong_by)
    assert (evaluate(workload, 3, shifted).value == pytest.approx(by_hand)) == sound


@settings(max_examples=400)
@given(instances(), PRICES, st.sampled_from(["svf", "fcfs", "vllm"]))
def test_gap_splits_exactly(instance, prices, key):
    """Total latency minus L is ordering plus idle memory plus memory given up."""
    workload, memory = instance
    run = find_policy(key).run(workload, memory)
    split = gap_split(run, prices)
    gap = run.latency.sum() - split.dual.value
    assert split.ordering + split.idle + split.given_up == pytest.approx(gap, abs=1e-7)
    assert (split.reduced_cost > -1e-9).all()
    assert split.idle > -1e-9
    if not run.gave_up_kv:
        assert split.given_up == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("arrivals", ["backlog", "poisson"])
def test_cheapest_starts_equal_a_scan(arrivals):
    """On hundreds of long requests the quick search finds what trying every start finds."""
    workload = generate(Scenario(n=300, arrivals=arrivals, rate=0.5, seed=3))
    rng = np.random.default_rng(1)
    steps = np.sort(rng.exponential(1e-3, 4000))[::-1]
    for prices in (
        convex_prices(workload, steps[:2500] * 1e-3),
        np.cumsum(rng.normal(0, 2e-4, 4000)).clip(0),
        np.where(np.arange(4000) // 50 % 2, 1e-3, 0.0),
    ):
        dual = evaluate(workload, 16_492, prices)
        lam = np.append(dual.prices, np.zeros(int(workload.output.max()) + 5000))
        upto, weighted = np.cumsum(lam), np.cumsum(lam * np.arange(len(lam)))
        for i in range(0, 300, 7):
            a, s, o = workload.arrival[i], int(workload.prompt[i]), int(workload.output[i])
            k = np.arange(int(np.ceil(a)), len(lam) - o)
            charge = (s - k) * (upto[k + o] - upto[k]) + weighted[k + o] - weighted[k]
            least = (k + o - a + charge).min()
            assert dual.least[i] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("bad", [[-1.0], [np.nan], [np.inf]])
def test_bad_prices(bad):
    """Prices are finite and not negative."""
    with pytest.raises(InputError, match="prices of memory"):
        evaluate(Workload([0], [1], [1]), 5, np.array(bad))


def test_huge_prices_are_no_danger():
    """Prices beyond all reason are lowered and still give a bound."""
    workload = Workload([0, 1], [3, 2], [4, 4])
    for top in (1e3, 1e9, 1e300):
        dual = evaluate(workload, 9, np.array([0, top, 0.5, top]))
        assert dual.value <= best_total_latency(workload, 9)


@settings(max_examples=200)
@given(instances(max_n=6), st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30))
def test_convex_prices_are_exactly_convex(instance, falls):
    """Cutting to units never bends them: the quick search for convex prices is exact."""
    workload, memory = instance
    falls = np.sort(falls)[::-1]
    assume(falls[0] > 0)
    prices = convex_prices(workload, falls)
    dual = evaluate(workload, memory, prices)
    assert dual.covers_preemption
    exact = dual_function(workload, memory, dual.prices)
    assert Fraction(dual.value) <= exact
    assert float(exact) - dual.value <= 1e-9 * max(1.0, abs(float(exact)))
