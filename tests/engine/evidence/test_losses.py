"""The parts of a gap add up to it, and the sentence names the part that dominates."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Scenario, Workload, find_method, find_policy, generate
from engine.evidence.losses import Loss, loss_of, losses_in_words, pricing_bound
from engine.measure.league import league
from tests.twins.strategies import instances

SPLIT = Loss("svf", "svf", "fluid", 100.0, 2.0, 8.0, 0.0)


@given(instances(), st.sampled_from(["svf", "fcfs", "reverse", "vllm"]))
def test_parts_add_up_to_the_gap(instance, key):
    """Whatever the run and its bound: total latency is the bound and the parts, none negative."""
    workload, memory = instance
    bounds = find_method("fluid").bounds(workload, memory)
    (entry,) = league([find_policy(key).run(workload, memory)], bounds)
    loss = loss_of(entry, pricing_bound(entry, bounds))
    assert loss.value + loss.rounds == pytest.approx(entry.numbers["total_latency"])
    assert loss.gap == pytest.approx(entry.gap)
    assert min(loss.parts.values()) >= -1e-6 * loss.value


def test_a_run_that_preempted_is_split_by_prices_that_cover_it():
    """Six identical requests: the larger bound is not for vllm, nor one without prices."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    bounds = find_method("lp").bounds(workload, 10)
    bounds.append(replace(bounds[0], bound="hindsight", value=36.0, prices=None))
    runs = [find_policy(key).run(workload, 10) for key in ("svf", "vllm")]
    by_label = {entry.label: entry for entry in league(runs, bounds)}
    assert pricing_bound(by_label["svf"], bounds).bound == "lp"
    assert pricing_bound(by_label["vllm"], bounds).bound == "lp-preemptive"
    assert pricing_bound(by_label["vllm"], bounds[:1]) is None


def test_mc_sf_loses_by_order_and_svf_by_idle_memory():
    """On the default mix shortest output first is the wrong order; svf's is nearly right."""
    workload = generate(Scenario(n=500))
    bounds = find_method("fluid").bounds(workload, 16_492)
    entries = league([find_policy(key).run(workload, 16_492) for key in ("mc-sf", "svf")], bounds)
    losses = [loss_of(entry, bounds[0]) for entry in entries]
    assert losses[0].share("idle memory") > 0.7
    assert losses[1].share("ordering") > 0.7
    told = losses_in_words(losses)
    assert told.startswith("The gap of **svf**")
    assert "from idle memory" in told
    assert "The gap of **mc-sf**" in told
    assert "from its order" in told


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (SPLIT, "The gap of **svf**, 10.0 %, comes to 80.0 % from idle memory"),
        (replace(SPLIT, ordering=9, idle=1), "comes to 90.0 % from its order"),
        (
            replace(SPLIT, ordering=5, idle=5),
            "has no one cause: it is 50.0 % ordering and 50.0 % idle memory.",
        ),
        (replace(SPLIT, ordering=0, idle=0.01), "nothing to lose: it meets the bound fluid"),
    ],
)
def test_in_words(loss, says):
    """One sentence for each case."""
    assert says in losses_in_words([loss]).replace("\u202f", " ")


def test_the_worst_is_told_only_where_it_differs():
    """A second sentence that says the same of another policy would be noise."""
    worst = replace(SPLIT, label="fcfs", ordering=100.0)
    assert "fcfs" in losses_in_words([SPLIT, worst])
    assert "fcfs" not in losses_in_words([SPLIT, replace(worst, ordering=1.0)])
