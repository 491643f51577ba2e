"""Advice is what a simulation of the change says."""

import pytest

from engine import (
    Choice,
    Deployment,
    Experiment,
    Scenario,
    Topology,
    Workload,
    compare,
    find_policy,
    generate,
)
from engine.experiment.advice import what_next
from engine.workload import MAX_MEMORY


def advise(workload, memory, key="svf"):
    experiment = Experiment(workload, Deployment(memory), (Choice(key),))
    return what_next(compare(experiment, []).league[0], experiment)


def test_advice_is_simulated():
    """The numbers are those of the runs with the change."""
    workload = generate(Scenario(n=300))
    memory, replica, wider = advise(workload, 16_492)
    policy = find_policy("svf")
    base = policy.run(workload, 16_492).latency.mean()
    saved = 1 - policy.run(workload, 20_615).latency.mean() / base
    assert f"cut the mean latency by {100 * saved:.1f}" in memory
    two = Deployment(16_492, topology=Topology(2)).run(Choice("svf"), workload).latency.mean()
    assert f"by {100 * (1 - two / base):.1f}" in replica
    skipping = 1 - policy.run(workload, 16_492, skip=5).latency.mean() / base
    assert f"by {100 * abs(skipping):.1f}" in wider


def test_advice_when_memory_is_no_matter():
    """With room for all, nothing helps, and it says so."""
    assert all("less than 1" in said for said in advise(Workload([0, 0], [2, 2], [3, 3]), 1000))


def test_advice_when_more_would_run():
    """Means over different requests are not compared."""
    said = advise(Workload([0, 0], [2, 11], [3, 1]), 10)
    assert said[0].endswith("would let 1 more requests be served.")


@pytest.mark.parametrize("key", ["vllm"])
def test_policies_without_skip_get_no_advice_on_it(key):
    """Only the memory and another replica are tried."""
    assert len(advise(generate(Scenario(n=50)), 16_492, key)) == 2


def test_no_advice_beyond_the_largest_memory():
    """A quarter more than a million million tokens cannot be simulated."""
    told = advise(generate(Scenario(n=50)), MAX_MEMORY)
    assert not any("more memory" in sentence for sentence in told)
