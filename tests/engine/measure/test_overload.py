"""The verdict knows a load that cannot be carried from one that can."""

import numpy as np
import pytest

from engine import Scenario, Workload, find_policy, generate
from engine.machine.clock import ROUNDS, seconds_clock
from engine.measure.overload import need_of, verdict
from engine.proof.work.alone import time_alone


def stream(gap, prompt=6, n=4000):
    """(prompt, 4) every `gap` rounds: in M = 10 the server carries one every 4 rounds."""
    return Workload(np.arange(n) * gap, np.full(n, prompt), np.full(n, 4))


def judge(workload, memory=10, key="fcfs"):
    return verdict(find_policy(key).run(workload, memory))


@pytest.mark.parametrize(("gap", "kind"), [(2, "stable"), (1.05, "saturated"), (0.9, "overloaded")])
def test_verdict_by_load(gap, kind):
    """(9, 1) fills M = 10 for one round; every 2, 1.05 and 0.9 rounds."""
    found = judge(Workload(np.arange(4000) * gap, np.full(4000, 9), np.ones(4000)))
    assert found.load == pytest.approx(1 / gap, rel=0.01)
    assert found.kind == kind
    assert found.is_steady == (kind != "overloaded")


def test_a_policy_that_wastes_memory_falls_behind_below_full_load():
    """Static batches reserve 8 of 15 tokens for each (4, 4): one every 4 rounds, 3 are there."""
    found = judge(stream(3, prompt=4), 15, "static")
    assert found.load < 0.9
    assert found.kind == "overloaded"
    assert found.drift == pytest.approx(0.25, abs=0.01)
    assert found.in_words().startswith("Overloaded: this policy falls behind. Of the work that ")
    assert "25" in found.in_words()


def test_requests_that_exclude_each_other_are_a_load():
    """(4, 4) in M = 10 holds 5, 6, 7, 8: any two share one round at most, so 3.5 rounds each."""
    found = judge(stream(3, prompt=4))
    assert found.load == pytest.approx(4 / 3, rel=1e-3)  # of runs that keep their cache even 4
    assert found.of == "packing"
    assert "No policy carries that" in found.in_words()


def test_work_in_seconds_is_told_as_the_least():
    """What the requests need of a GPU is a lower bound; of the memory in rounds it is exact."""
    workload = generate(Scenario(n=400, arrivals="poisson", rate=0.5))
    seconds = find_policy("svf").run(workload, 16_492, clock=seconds_clock(0.02, 1e-4, 50))
    assert "the requests need at least " in verdict(seconds).in_words()
    assert "% of the GPU's time while they arrive" in verdict(seconds).in_words()
    assert "at least" not in judge(stream(2, prompt=6)).in_words()


def test_smallest_first_does_not_hide_an_overload():
    """At nearly twice what M can carry the small ones are quick and the rest wait for good."""
    workload = generate(Scenario(n=2000, arrivals="poisson", rate=0.2))
    found = judge(workload, 16_492, "svf")
    assert found.kind == "overloaded"
    assert found.load > 1.5
    assert "No policy carries that" in found.in_words()


def test_light_load_is_stable():
    """Few large requests in the system late in the run are noise."""
    for seed in range(5):
        workload = generate(Scenario(n=300, arrivals="poisson", rate=0.03, seed=seed))
        assert judge(workload, 16_492, "svf").kind == "stable"


@pytest.mark.parametrize("clock", [ROUNDS, seconds_clock(0.02, 1e-4, 50, 1e-6, 1e-4)])
@pytest.mark.parametrize("key", ["svf", "vllm"])
def test_queue_counts_the_need_kept_waiting(clock, key):
    """The share of a plain loop over requests: in the system late, beyond their time alone."""
    workload = generate(Scenario(n=150, arrivals="poisson", rate=0.1 if clock.is_rounds else 2))
    run = find_policy(key).run(workload, 16_492, clock=clock)
    first, last = workload.arrival.min(), workload.arrival.max()
    begin = first + 0.8 * (last - first)
    waits = came = 0.0
    for i in range(len(workload)):
        alone = workload.output[i] if clock.is_rounds else time_alone(workload, clock.step).total[i]
        need = need_of(run).amounts[i]
        inside = min(run.finished_at[i], last) - max(workload.arrival[i] + alone, begin)
        waits += need * max(0.0, inside) / (last - begin)
        came += need * 0.4
    assert verdict(run).queue == pytest.approx(waits / came)


def test_only_a_short_queue_makes_sure():
    """A light load is certain, one at the border is not, and an overload is one."""
    assert judge(stream(5)).is_certain
    assert judge(stream(5)).queue == 0
    near = generate(Scenario(n=2000, arrivals="poisson", rate=0.105, seed=3))
    assert judge(near, 16_492, "fcfs").queue < 0.01  # a light draw of a load of 0.98
    assert not judge(near, 16_492, "fcfs").is_certain
    assert judge(stream(3)).is_certain


def test_backlog_and_short_runs_are_not_judged():
    """There is no span in which to see a drift."""
    assert judge(stream(0)).kind == "backlog"
    assert judge(stream(3, n=60)).kind == "too short"
