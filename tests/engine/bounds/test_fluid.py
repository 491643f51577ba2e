"""The fluid bound: known values, both coverage rows, and never above what it bounds."""

import numpy as np
import pytest
from hypothesis import given, settings

from engine import InputError, Scenario, Workload, find_method, find_policy, generate
from engine.proof.fluid import arrival_prices, backlog_falls
from tests.twins.brute_force import best_total_latency
from tests.twins.strategies import instances


def fluid(workload, memory):
    return {bound.bound: bound for bound in find_method("fluid").bounds(workload, memory)}


@settings(max_examples=300)
@given(instances(max_n=3, max_memory=14))
def test_never_above_the_optimum(instance):
    """Both rows, with and without arrivals; never below the sum of outputs."""
    workload, memory = instance
    optimum = best_total_latency(workload, memory)
    for bound in fluid(workload, memory).values():
        assert workload.output.sum() - 1e-9 <= bound.value <= optimum + 1e-9


def test_backlog_has_one_row_for_every_run():
    """Its prices never rise as they stand."""
    (bound,) = fluid(Workload([0] * 6, [2] * 6, [3] * 6), 10).values()
    assert (bound.bound, bound.certified, bound.covers_preemption) == ("fluid", True, True)
    assert 18 < bound.value <= 30.50944


def test_arrivals_have_two_rows():
    """The one for every run is the smaller, and says what it covers."""
    workload = generate(Scenario(n=300, arrivals="poisson", rate=0.15))
    rows = fluid(workload, 16_492)
    assert not rows["fluid"].covers_preemption
    assert rows["fluid-preemptive"].covers_preemption
    assert rows["fluid-preemptive"].value <= rows["fluid"].value


def test_prices_by_hand():
    """Volumes 6 and 12 at M = 3 are served in rounds 0-2 and 2-6.

    The price is 2/3, the area under (requests left)/M, at 0; it falls by 1/6 a round while the
    first is served and by 1/12 after.
    """
    falls = backlog_falls(np.array([12, 6]), 3)
    assert falls == pytest.approx([1 / 6, 1 / 12, 1 / 12, 1 / 12, 1 / 12, 0.0])
    together = arrival_prices(np.array([0, 0]), np.array([12, 6]), 3)
    assert together[1:6] == pytest.approx([1 / 2, 1 / 3, 1 / 4, 1 / 6, 1 / 12])


def test_fluid_preempts_for_a_lesser_volume():
    """12 at 0 and 3 at 1, M = 3: served 0-1, then the lesser 1-2, then the rest 2-5.

    At the end of round 1 the greater one's line is 4/12 high (1/12 a round, down to 0 at 5);
    from 1 to 2 the lesser one's line falls by 1/3, to meet the greater one's 3/12 at 2.
    """
    price = arrival_prices(np.array([0, 1]), np.array([12, 3]), 3)
    assert price[1:] == pytest.approx([4 / 12, 3 / 12, 2 / 12, 1 / 12, 0])


def test_a_long_backlog_is_nearly_tight():
    """On the default mix no more than 12 % below svf."""
    workload = generate(Scenario(n=2000))
    best = find_policy("svf").run(workload, 16_492).latency.sum()
    value = fluid(workload, 16_492)["fluid"].value
    assert 0.88 * best < value < best


def test_too_many_rounds_are_refused():
    """Prices are kept by round: a sentence instead of memory running out."""
    with pytest.raises(InputError, match="every round has a price, in at most 30,000,000 rounds"):
        fluid(Workload([0] * 3, [1] * 3, [10**8] * 3), 10**8 + 1)
