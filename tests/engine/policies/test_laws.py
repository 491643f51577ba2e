"""Laws that every policy keeps, on any workload and with any parameters."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine import POLICIES, ROUNDS, Choice, Deployment, InputError, Workload, find_policy
from engine.errors import Livelock
from engine.fleet import ONE_SERVER
from engine.memory_curve import memory_curve
from tests.engine.simulate.test_clocks import CLOCKS
from tests.twins.strategies import instances


def values_of(param):
    """Any value within the declared range, but for a budget, which is spent for nothing here."""
    if param.name == "seconds":
        return st.just(param.low)
    if param.is_whole:
        return st.integers(param.low, min(param.high, 300))
    return st.floats(param.low, param.high)


def is_possible(params):
    """Whether vLLM's options, which others do not have, go together."""
    tokens, swap = params.get("max_num_batched_tokens"), params.get("swap")
    return not params.get("chunked_prefill") or (tokens and not swap)


def params_of(policy):
    """Any values within the declared ranges that go together."""
    any_values = st.fixed_dictionaries({param.name: values_of(param) for param in policy.params})
    return any_values.filter(is_possible)


def run_unless_stuck(policy, workload, memory, clock=ROUNDS, topology=ONE_SERVER, **params):
    """The policy's run; None where it reports that it would go on for ever."""
    try:
        return Deployment(memory, clock, topology).run(Choice.of(policy.key, params), workload)
    except Livelock:
        assert policy.key in ("alpha-greedy", "alpha-beta", "nested-wait")
        return None


def run_if_possible(policy, workload, memory, clock=ROUNDS, **params):
    """The policy's run; None also where its options leave nothing that can run."""
    try:
        return run_unless_stuck(policy, workload, memory, clock, **params)
    except InputError:
        return None


@pytest.mark.parametrize("key", POLICIES)
@settings(max_examples=120)
@given(data=st.data(), instance=instances(max_n=10), clock=CLOCKS)
def test_laws(key, data, instance, clock):
    """Everyone is served, after arriving, within M at every round's end, twice the same."""
    workload, memory = instance
    policy = POLICIES[key]
    params = data.draw(params_of(policy))
    assume(params.get("block_size", 1) <= memory)
    assume(workload.peak.max() <= policy.usable(memory, params))
    run = run_unless_stuck(policy, workload, memory, clock=clock, **params)
    if run is None:
        return
    check_laws(run)
    assert policy.may_give_up_kv or not run.gave_up_kv
    if not policy.timed:
        again = policy.run(workload, memory, clock=clock, **params)
        assert (again.start == run.start).all()
        assert (again.finished_at == run.finished_at).all()


def check_laws(run):
    """Of a run on one server."""
    workload, memory = run.workload, run.memory
    assert (run.started_at >= workload.arrival).all()
    assert (run.first_token > run.start).all()
    assert (run.finish >= run.first_token).all()
    residencies = run.residencies
    assert (residencies.end > residencies.begin).all()
    generated = np.zeros(len(workload), np.int64)
    np.add.at(
        generated, residencies.request, (residencies.end - residencies.begin) * residencies.grows
    )
    again = run.recomputed
    # Whoever starts over generates its tokens again, whoever is preempted prefills them.
    assert ((generated == workload.output) | (generated == workload.output + again)).all()
    assert 0 < memory_curve(run).peak <= memory
    if len(residencies.request) == len(workload):
        assert not run.gave_up_kv
        assert (run.finish - run.start == workload.output).all()


@pytest.mark.parametrize("key", POLICIES)
def test_requests_that_cannot_fit_are_set_aside(key):
    """They are listed by row, and the others run as if they were not there."""
    workload = Workload([0, 0, 0], [4, 9, 4], [3, 2, 3])
    run = POLICIES[key].run(workload, 10)
    assert run.set_aside.tolist() == [1]
    assert run.workload.row.tolist() == [0, 2]
    with pytest.raises(InputError, match="smallest needs 7 tokens"):
        POLICIES[key].run(workload, 6)


@pytest.mark.parametrize("key", POLICIES)
def test_declarations(key):
    """What the sidebar and the About page show is there."""
    policy = POLICIES[key]
    assert policy.title
    assert policy.rule.endswith(".")
    assert policy.source
    assert policy.cost(1) <= policy.cost(100_000)
    for param in policy.params:
        assert param.low <= param.default <= param.high
        assert param.help.endswith(".")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"skips": 1}, "policy svf has no parameter skips"),
        ({"skip": -1}, "svf.skip must be a whole number from 0 to 1,000, got -1"),
        ({"skip": 1.5}, "svf.skip must be a whole number"),
        ({"skip": "many"}, "svf.skip must be a whole number"),
        ({"skip": float("nan")}, "svf.skip must be a whole number"),
    ],
)
def test_bad_parameters(given, message):
    """One sentence that names policy, parameter and range."""
    with pytest.raises(InputError, match=message):
        find_policy("svf").run(Workload([0], [1], [1]), 10, **given)


@pytest.mark.parametrize(
    "memory", [0, -5, 1.5, float("nan"), float("inf"), 10**13, "100", True, None]
)
def test_bad_memory(memory):
    """M is a whole number of tokens in a range."""
    with pytest.raises(InputError, match=r"memory M \(tokens\) must be a whole number from 1"):
        find_policy("svf").run(Workload([0], [1], [1]), memory)


def test_unknown_policy():
    """The message names the policies there are."""
    with pytest.raises(InputError, match=r"unknown policy lifo: choose from .*svf"):
        find_policy("lifo")
