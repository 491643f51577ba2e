"""The league orders, labels and says what the numbers say."""

import numpy as np
import pytest

from engine import Bound, Scenario, Workload, find_policy, gap, generate
from engine.bound import best_cover
from engine.measure.league import compare_means, headline, label_of, league, league_table
from engine.measure.remarks import caveats


@pytest.fixture
def six():
    """(2, 3) x 6 in M = 10: vllm reaches 33 by preempting, others 36, LP 35.744."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    return {key: find_policy(key).run(workload, 10) for key in ("svf", "vllm")}


LP = Bound("lp", 35.744, True, False, "test")
PREEMPTIVE = Bound("lp-preemptive", 30.50944, True, True, "test")
GUESS = Bound("guess", 36.5, False, True, "test")


def test_gap_only_against_a_bound_that_covers_the_run(six):
    """A run that preempted is not compared with the larger bound that it beats."""
    bounds = [LP, PREEMPTIVE]
    assert gap(six["svf"], bounds) == pytest.approx(36 / 35.744)
    assert gap(six["vllm"], bounds) == pytest.approx(33 / 30.50944)
    assert gap(six["vllm"], [LP]) is None
    assert best_cover(six["vllm"], bounds) is PREEMPTIVE


def test_no_gap_against_an_uncertified_bound(six):
    """Whatever it claims to cover."""
    assert gap(six["svf"], [GUESS]) is None
    assert gap(six["svf"], [GUESS, LP]) == pytest.approx(36 / 35.744)


def test_league_is_ordered_and_honest(six):
    """Best mean first; a missing gap is a gap in the table, with the reason."""
    entries = league(list(six.values()), [LP])
    assert [entry.label for entry in entries] == ["vllm", "svf"]
    table = league_table(entries)
    assert np.isnan(table["gap_percent"][0])
    assert table["against"].tolist() == ["no bound covers it", "lp"]
    assert table["total_latency"].tolist() == [33, 36]


def test_label_names_changed_parameters():
    """Only those that are not at their default."""
    workload = Workload([0], [1], [1])
    assert label_of(find_policy("svf").run(workload, 10)) == "svf"
    assert label_of(find_policy("svf").run(workload, 10, skip=5)) == "svf skip=5"
    assert label_of(find_policy("vllm").run(workload, 10, watermark=0.05)) == "vllm watermark=0.05"


def test_headline(six):
    """One sentence for each case: covered, not covered, alone, optimal."""
    runs = list(six.values())
    covered = headline(league(runs, [LP, PREEMPTIVE]))
    assert covered.startswith("**vllm** cuts the mean latency of **svf** by 8.3")
    assert covered.endswith("and is at most 8.2\u202f% from the best possible.")
    assert headline(league(runs, [LP])).endswith("no certified bound covers its run yet.")
    exact = Bound("hindsight", 36.0, True, False, "test")
    assert headline(league([six["svf"]], [exact])) == (
        "**svf** has a mean latency of 6\u202frounds "
        "and is proved to be the best possible without preemption."
    )


@pytest.mark.parametrize(
    ("quick", "slow", "says"),
    [
        (100, 101, "practically the same"),
        (80, 100, "by 20.0\u202f%"),
        (50, 100, "halves the mean latency of **x**"),
        (10, 66, "6.6x"),
        (10, 213, "21x"),
    ],
)
def test_compare_means(quick, slow, says):
    """The verb fits the ratio."""
    assert says in compare_means(quick, slow, "x")


def test_of_bounds_that_agree_the_one_for_every_run_is_taken(six):
    """So that a hair's gain of the other does not turn the best possible into a lesser claim."""
    every = Bound("every", 35.7, True, True, "test")
    kept = Bound("kept", 35.7 * (1 + 5e-5), True, False, "test")
    assert best_cover(six["svf"], [kept, every]) is every
    larger = Bound("kept", 35.7 * (1 + 2e-4), True, False, "test")
    assert best_cover(six["svf"], [every, larger]) is larger


def test_caveats_name_whom_they_are_about(six):
    """Whatever the headline says: where all are tied it names nobody."""
    same = Workload([0] * 2, [2] * 2, [3] * 2)
    entries = league([find_policy(key).run(same, 20) for key in ("svf", "vllm")], [])
    assert headline(entries).startswith("All policies have practically the same mean latency")
    assert caveats(entries) == ["svf is told every output length; vllm is not."]


def test_an_overloaded_policy_is_not_a_factor():
    """Means that grow with the horizon are not divided: who keeps up is told instead."""
    one_too_many = Workload(np.arange(400) * 2, np.full(400, 6), np.full(400, 4))
    runs = [find_policy(key).run(one_too_many, 10) for key in ("svf", "vllm")]
    assert headline(league(runs, [])).startswith(
        "**svf** has the lowest mean of this run but is overloaded, **vllm** is too;"
    )
    assert headline(league(runs[:1], [])).startswith("**svf** is overloaded here;")
    one_bound = [Bound("test", 1.0, True, True, "test")]
    told = headline(league(runs, one_bound))
    assert "cuts" not in told
    assert "; on these requests svf is at most " in told


def test_who_keeps_up_is_told_of_an_overloaded_rival():
    """static holds memory for whole batches and falls behind at a load that svf carries."""
    near = generate(Scenario(n=2000, arrivals="poisson", rate=0.08))
    runs = [find_policy(key).run(near, 16_492) for key in ("svf", "static")]
    told = headline(league(runs, []))
    assert told.startswith("**svf** keeps up here, where **static** is overloaded;")
