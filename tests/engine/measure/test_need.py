"""No run serves requests faster than what they need of a server allows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import ROUNDS, Choice, Workload, find_policy
from engine.machine.clock import seconds_clock
from engine.measure.need import needs
from engine.measure.overload import verdict

POLICIES = ("fcfs", "mc-sf", "svf", "vllm", "srpt", "a-min", "fastserve")
DENSE = Workload(np.arange(400) / 2.0, [6] * 400, [1] * 400)  # (6, 1), 2 a round
CLOCKS = (ROUNDS, seconds_clock(1.0), seconds_clock(0.3, 0.05, 4, 0.01, 0.02))


def backlog(draw_of, memory):
    """Requests that fit, all there from the start."""
    sizes = [(s, o) for s, o in draw_of if s + o <= memory]
    prompt, output = np.array(sizes).T
    return Workload(np.zeros(len(sizes)), prompt, output)


@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6)), min_size=2, max_size=25),
    st.sampled_from(POLICIES),
    st.sampled_from(CLOCKS),
)
@settings(max_examples=60)
def test_no_backlog_is_over_before_its_need(sizes, key, clock):
    """Of each resource, in every way it is reckoned, whatever a policy gives up on its way."""
    workload = backlog(sizes, 18)
    run = find_policy(key).run(workload, 18, clock=clock)
    for need in needs(run.workload, 18, clock, Choice(key), not run.gave_up_kv):
        assert need.amounts.sum() <= run.finished_at.max() * (1 + 1e-9), (need.of, need.way)


@pytest.mark.parametrize(
    ("prompt", "output", "memory", "rounds"),
    [
        (6, 1, 10, 1),  # holds 7 of 10: one at a time
        (4, 4, 10, 4),  # who ends with 8 leaves no room for 5: one after the other
        (1, 9, 10, 9),  # ends with all of M, so nobody may have begun
        (3, 1, 10, 0.5),  # holds 4 of 10: two at a time
    ],
)
def test_requests_that_exclude_each_other(prompt, output, memory, rounds):
    """What equal requests need of a server by hand, where nobody gives up KV cache."""
    n = 50
    workload = Workload(np.zeros(n), [prompt] * n, [output] * n)
    most = max(need.amounts.mean() for need in needs(workload, memory, ROUNDS, keeps_cache=True))
    assert most == pytest.approx(rounds)
    assert find_policy("fcfs").run(workload, memory).finish.max() == pytest.approx(n * rounds)


def test_a_policys_own_limits_are_resources():
    """At most 8 at once, and at most 100 tokens a round."""
    n = 40
    workload = Workload(np.zeros(n), [30] * n, [20] * n)
    choice = Choice.of("vllm", {"max_num_seqs": 8, "max_num_batched_tokens": 100})
    by = {need.of: need for need in needs(workload, 10**6, ROUNDS, choice)}
    assert by["sequences"].amounts == pytest.approx(np.full(n, 20 / 8))
    assert by["tokens a round"].amounts == pytest.approx(np.full(n, 49 / 100))
    assert not by["sequences"].is_any_policys
    assert by["memory"].is_any_policys


def test_what_only_some_runs_keep_to_is_not_said_of_all():
    """(4, 4) in M = 10 needs 4 rounds, or 3.5 where KV cache is given up; one comes in 3.75."""
    n = 400
    workload = Workload(np.arange(n) * 3.75, [4] * n, [4] * n)
    run = find_policy("fcfs").run(workload, 10)
    apart = [need for need in needs(workload, 10, ROUNDS, keeps_cache=True) if need.way[:2] == "at"]
    assert apart
    assert not any(need.is_any_policys for need in apart)
    sentence = verdict(run).in_words()
    assert "No policy that keeps all KV cache carries that" in sentence
    assert "No policy carries that" in verdict(find_policy("fcfs").run(DENSE, 10)).in_words()
