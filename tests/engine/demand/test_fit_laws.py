"""Laws of a trace: the split is the best there is, and a day drawn from them is like the trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError, Scenario, Workload, find_policy, generate
from engine.demand.fit_laws import (
    class_record,
    fit_laws,
    laws_in_words,
    split_lengths,
    what_if,
)
from engine.measure.other_day import days_in_words, days_table
from engine.traces import read_trace


def mixed(n=4000, **how):
    how = {"arrivals": "gamma", "rate": 2.0, "burstiness": 2.5, "seed": 4, **how}
    return generate(Scenario(n=n, **how))


@given(st.lists(st.integers(1, 400), min_size=2, max_size=30))
def test_split_has_the_largest_variance_between(total):
    """Against every border, by the definition."""
    total = np.array(total)
    found = split_lengths(total)
    if len(set(total)) == 1:
        assert found is None
        return
    log = np.log(total)

    def between(border):
        low, high = log[total <= border], log[total > border]
        mean = log.mean()
        return len(low) * (low.mean() - mean) ** 2 + len(high) * (high.mean() - mean) ** 2

    best = max(between(border) for border in np.unique(total)[:-1])
    assert between(found.border) == pytest.approx(best)
    assert found.between == pytest.approx(best / ((log - log.mean()) ** 2).sum())
    assert found.long_share == pytest.approx((total > found.border).mean())


def test_the_mix_is_found():
    """80/20 of the default classes: all long ones and 6 % of the short are called long."""
    workload = mixed()
    split = fit_laws(workload).split
    is_long, truly = workload.peak > split.border, workload.class_of == 1
    assert is_long[truly].mean() > 0.99
    assert is_long[~truly].mean() < 0.08
    assert split.is_clear


def test_one_broad_kind_is_called_so():
    """A lognormal law has no two kinds."""
    rng = np.random.default_rng(1)
    total = np.rint(np.exp(rng.normal(6, 1, 5000))).astype(int) + 2
    split = split_lengths(total)
    assert not split.is_clear
    assert split.between == pytest.approx(2 / np.pi, abs=0.02)


def test_a_day_from_the_laws_is_like_the_trace():
    """As many requests in the same time; lengths, their relation, curve and burstiness."""
    workload = mixed(n=8000)
    laws = fit_laws(workload)
    other = what_if(laws, seed=1)
    assert len(other) == len(workload)
    assert (other.arrival.min(), other.arrival.max()) == pytest.approx(
        (workload.arrival.min(), workload.arrival.max())
    )
    for name in ("prompt", "output", "volume"):
        ours, theirs = getattr(other, name).mean(), getattr(workload, name).mean()
        assert ours == pytest.approx(theirs, rel=0.07), name
    assert other.class_of.mean() == pytest.approx(laws.split.long_share, abs=0.02)
    assert fit_laws(other).curve.burstiness == pytest.approx(laws.curve.burstiness, rel=0.15)
    assert other.peak.max() <= workload.peak.max()


def test_the_daily_curve_is_kept():
    """A trace with a rush hour gives days with the same rush hour."""
    workload = mixed(n=6000, arrivals="on-off", rate=1.0, period=6000.0, on_share=0.3)
    laws = fit_laws(workload)
    count, _ = np.histogram(what_if(laws, seed=2).arrival, laws.curve.edges)
    assert count == pytest.approx(laws.curve.count, abs=0.03 * len(workload))


def test_burstiness_does_not_take_the_curve_for_bursts():
    """Poisson arrivals under a curve of one to nine have a burstiness of 1."""
    rng = np.random.default_rng(3)
    arrival = np.sort(np.concatenate([1000 * rng.random(900), 1000 + 1000 * rng.random(8100)]))
    ones = np.ones(len(arrival), np.int64)
    assert fit_laws(Workload(arrival, ones, ones)).curve.burstiness == pytest.approx(1, abs=0.06)


def test_twice_the_load_and_half_the_long():
    """Twice the requests over the same time, half the share of long ones."""
    workload = mixed()
    laws = fit_laws(workload)
    other = what_if(laws, load=2.0, long_share=0.5)
    assert len(other) == 2 * len(workload)
    assert np.ptp(other.arrival) == pytest.approx(np.ptp(workload.arrival))
    assert other.class_of.mean() == pytest.approx(laws.split.long_share / 2, abs=0.015)
    assert other.classes == ("short", "long")


def test_same_numbers_at_any_load():
    """The first requests keep their lengths when the load doubles; seeds differ."""
    laws = fit_laws(mixed(n=500))
    one, two = what_if(laws), what_if(laws, load=2.0)
    assert one.prompt.tolist() == two.prompt[: len(one)].tolist()
    assert what_if(laws).digest == one.digest
    assert what_if(laws, seed=1).digest != one.digest


def test_a_backlog_stays_one():
    """No curve, and all requests at 0."""
    laws = fit_laws(generate(Scenario(n=300)))
    assert laws.curve is None
    assert what_if(laws, load=2.0).is_backlog
    assert "all at once" in laws_in_words(laws, "rounds")


def test_requests_that_are_all_alike():
    """One class; its share of long ones is none of our business."""
    laws = fit_laws(Workload(np.arange(50.0), [7] * 50, [3] * 50))
    assert laws.split is None
    other = what_if(laws, long_share=2.0)
    assert set(other.prompt) == {7}
    assert set(other.output) == {3}
    assert other.classes == ("all",)
    assert "same length" in laws_in_words(laws, "rounds")


def test_one_request():
    """The smallest trace there is."""
    laws = fit_laws(Workload([5.0], [7], [3]))
    assert len(what_if(laws, load=3.0)) == 3


@pytest.mark.parametrize("how", [{"load": 0.0}, {"load": 1e6}, {"long_share": -1}, {"seed": -1}])
def test_out_of_range(how):
    """Named."""
    with pytest.raises(InputError):
        what_if(fit_laws(mixed(n=50)), **how)


def test_a_class_is_a_file_of_sample_data():
    """The record of a class holds tables that only rise, and depends on lengths alone."""
    record = class_record("long", mixed(n=2000))
    assert record["prompt"]["values"] == sorted(record["prompt"]["values"])
    assert len(record["output"]["values"]) == 10
    assert class_record("long", mixed(n=30))["output"]["prompt_levels"] == [0.0, 1.0]


def test_azure_traces(shared):
    """Drawn days have the volume of the real ones within 10 %."""
    for name in ("azure2023_conv.csv", "azure2023_code.csv"):
        workload, _ = read_trace(shared / "traces" / name)
        other = what_if(fit_laws(workload))
        assert other.volume.mean() == pytest.approx(workload.volume.mean(), rel=0.1)


def test_two_days_side_by_side():
    """The best policy of the other day, its latency then and now, and the load."""
    workload = mixed(n=300, rate=0.08)
    other = what_if(fit_laws(workload), load=2.0)
    today, then = (
        [find_policy(key).run(day, 16_492) for key in ("fcfs", "svf")] for day in (workload, other)
    )
    told = days_in_words(today, then)
    assert "**svf** would have a mean latency of" in told
    assert "instead of" in told
    assert days_table(today, then)["Policy"].tolist() == ["fcfs", "svf"]
    assert "Set aside, trace" not in days_table(today, then)
    tight = [[find_policy("svf").run(day, 3000)] for day in (workload, other)]
    table = days_table(*tight)
    assert int(table["Set aside, trace"][0]) == (workload.peak > 3000).sum() > 0
    assert int(table["Set aside, what if"][0]) == (other.peak > 3000).sum()
