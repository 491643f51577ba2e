"""Replicas behind routers, and pools that prefill and decode apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    Choice,
    Deployment,
    InputError,
    Scenario,
    Topology,
    Workload,
    find_method,
    find_policy,
    gap,
    generate,
)
from engine.admission_limits import NO_LIMITS, AdmissionLimits
from engine.fleet import ROUTINGS, read_pools
from engine.fleet.routing import route
from engine.machine.clock import ROUNDS, seconds_clock
from engine.measure.metrics import summary
from engine.measure.per_request import per_request
from engine.measure.token_gaps import largest_token_gap
from engine.memory_curve import memory_curve
from engine.progress import silent
from tests.twins.strategies import instances

CLOCK = seconds_clock(0.0372, 1.965e-4, 90, 5.67e-8, 4.2e-5)


def serve(key, workload, memory, clock=ROUNDS, **topology):
    """The run of a policy on servers so connected."""
    return Deployment(memory, clock, Topology(**topology)).run(Choice(key), workload)


@pytest.fixture(scope="module")
def mix():
    return generate(Scenario(n=300, arrivals="poisson", rate=4.0))


@settings(max_examples=150)
@given(
    instances(max_n=10),
    st.integers(2, 4),
    st.sampled_from(list(ROUTINGS)),
    st.sampled_from(["svf", "fcfs", "vllm", "sarathi"]),
    st.sampled_from([ROUNDS, seconds_clock(0.5, 0.25)]),
)
def test_laws_of_a_fleet(instance, replicas, routing, key, clock):
    """Every request is served once, in time, within M on every replica."""
    workload, memory = instance
    run = serve(key, workload, memory, clock, replicas=replicas, routing=routing)
    assert sorted(np.concatenate([part.workload.row for part in run.parts])) == list(
        range(len(workload))
    )
    assert (run.started_at >= workload.arrival).all()
    assert (run.finished_at > run.started_at).all()
    assert all(memory_curve(part).peak <= memory for part in run.parts)
    assert len(per_request(run, workload)) == len(workload)


@pytest.mark.parametrize("routing", [key for key, (_, state) in ROUTINGS.items() if state])
def test_routers_know_only_the_past(mix, routing):
    """Requests that come later change nothing about where earlier ones were sent."""
    whole = serve("svf", mix, 16_492, CLOCK, replicas=3, routing=routing)
    early = mix.arrival <= np.median(mix.arrival)
    part = serve("svf", mix.take(early), 16_492, CLOCK, replicas=3, routing=routing)
    assert whole.schedule.replica[early].tolist() == part.schedule.replica.tolist()


@pytest.mark.parametrize("key", ["fcfs", "svf", "vllm"])
@pytest.mark.parametrize("limits", [NO_LIMITS, AdmissionLimits(patience=300, queue_limit=20)])
def test_sending_ahead_changes_nothing(key, limits):
    """Everyone goes where a router sends who simulates both replicas anew at every arrival.

    In a crowd, that is known from much fewer simulations than there are requests.
    """
    workload = generate(
        Scenario(n=300, arrivals="poisson", rate=0.3, seed=5, admission_limits=limits)
    )
    policy = find_policy(key)
    params = policy.read_params({})
    simulated = []

    def serve_these(sent):
        simulated.append(sent)
        return policy.simulate(workload.take(sent), 16_492, ROUNDS, silent, **params)

    replica = route(policy, workload, Topology(2, "least-loaded"), serve_these, silent)
    assert len(simulated) < 200
    sent = [[], []]
    for i, moment in enumerate(workload.arrival):
        there = [(serve_these(np.array(of)).gone_at > moment).sum() if of else 0 for of in sent]
        assert replica[i] == np.argmin(there)
        sent[replica[i]].append(i)


def test_least_loaded_by_hand():
    """The third goes where the short one has finished, the fourth to the lower index."""
    workload = Workload([0, 0, 3, 20], [5, 5, 5, 5], [9, 2, 2, 2])
    run = serve("svf", workload, 20, replicas=2, routing="least-loaded")
    assert run.schedule.replica.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("seed", range(8))
def test_orca_reserves_the_same_everywhere(seed):
    """A router sees the replicas that there are: each choice is of the least loaded in the end."""
    rng = np.random.default_rng(seed)
    arrival = np.sort(rng.integers(0, 30, 25))
    workload = Workload(arrival, rng.integers(1, 8, 25), rng.integers(1, 20, 25))
    run = serve("orca", workload, 45, replicas=2, routing="least-loaded")
    for i in range(25):
        there = (np.arange(25) < i) & (run.finish > arrival[i])
        loads = np.bincount(run.schedule.replica[there], minlength=2)
        assert loads[run.schedule.replica[i]] == loads.min()


def test_shortest_memory_by_hand():
    """At 1 the first replica holds 10 + 1, the second 2 + 1, and then both of the others."""
    workload = Workload([0, 0, 1, 1], [10, 2, 2, 2], [9, 9, 2, 2])
    run = serve("svf", workload, 20, replicas=2, routing="join-shortest-memory")
    assert run.schedule.replica.tolist() == [0, 1, 1, 1]


def test_state_helps(mix):
    """Least-loaded beats taking turns."""
    means = {
        key: serve("svf", mix, 16_492, CLOCK, replicas=3, routing=key).latency.mean()
        for key in ("round-robin", "least-loaded")
    }
    assert means["least-loaded"] < means["round-robin"]


def test_bounds_count_the_replicas(mix):
    """One server's bound does not cover a fleet; the fleet's own does and is not beaten."""
    run = serve("svf", mix, 16_492, CLOCK, replicas=3, routing="least-loaded")
    method = find_method("srpt")
    assert gap(run, method.bounds(mix, 16_492, clock=CLOCK)) is None
    assert gap(run, method.bounds(mix, 16_492, clock=CLOCK, replicas=3)) >= 1


def test_pools_by_hand():
    """(4, 3): a round of prefill, 5 tokens moved in 1 each, two rounds of decoding."""
    run = serve("svf", Workload([0], [4], [3]), 10, pools=(1, 1), transfer=1.0)
    assert run.first_token_at.tolist() == [1]
    assert run.finished_at.tolist() == [1 + 5 + 2]
    assert summary(run)["peak_memory"] == 7


def test_decoding_pool_does_not_prefill():
    """On the seconds clock its rounds cost c0 and c3 only: nothing is computed again."""
    clock = seconds_clock(1.0, c1=0.5, c3=0.25)
    run = serve("svf", Workload([0], [4], [3]), 10, clock, pools=(1, 1))
    assert run.first_token_at.tolist() == [1 + 0.5 * 4]
    assert run.finished_at.tolist() == [3 + 2 * (1 + 0.5 + 0.25)]


def test_pools_keep_requests_of_one_token():
    """They end where they were prefilled."""
    run = serve("svf", Workload([0, 0], [4, 4], [1, 1]), 10, pools=(1, 1))
    assert run.finished_at.tolist() == [1, 1]
    assert run.schedule.decode is None


def test_pools_are_covered_by_bounds_for_every_run(mix):
    """KV cache moves, so only those, and for as many servers."""
    run = serve("svf", mix, 16_492, CLOCK, pools=(1, 2), transfer=1e-5)
    bounds = find_method("srpt").bounds(mix, 16_492, clock=CLOCK, replicas=3)
    assert [bound.covers(run) for bound in bounds] == [b.covers_preemption for b in bounds]
    assert gap(run, bounds) >= 1


def test_policies_that_know_the_future_take_turns(mix):
    """The message says what to use."""
    for key in ("sorted-f", "wait", "nested-wait"):
        assert not Deployment(16_492, CLOCK, Topology(2, "least-loaded")).takes(Choice(key))
        assert Deployment(16_492, CLOCK, Topology(2)).takes(Choice(key))
        with pytest.raises(InputError, match="use round-robin"):
            serve(key, mix, 16_492, CLOCK, replicas=2, routing="least-loaded")


def test_bad_topologies_are_named(mix):
    """Number, routing, pools, closed loops."""
    with pytest.raises(InputError, match="replicas must be a whole number"):
        serve("svf", mix, 16_492, replicas=0)
    with pytest.raises(InputError, match="unknown routing"):
        serve("svf", mix, 16_492, replicas=2, routing="best")
    for text in ("2", "2:x", "0:1", "1:2:3"):
        with pytest.raises(InputError, match="pools"):
            read_pools(text)
    loop = Workload([0], [1], [1], concurrency=1)
    with pytest.raises(InputError, match="closed loop"):
        serve("svf", loop, 10, replicas=2)


def test_one_replica_is_a_plain_run(mix):
    """Nothing changes."""
    run = serve("svf", mix, 16_492, CLOCK)
    assert run.parts == (run,)


def test_token_gaps_of_a_fleet(mix):
    """Each request's is that on its replica."""
    run = serve("vllm", mix, 16_492, CLOCK, replicas=2)
    gaps = largest_token_gap(run)
    for number, part in enumerate(run.parts):
        own = largest_token_gap(part)
        np.testing.assert_array_equal(gaps[run.schedule.replica == number], own)


def test_token_gap_across_pools():
    """Moving 5 tokens takes 5 rounds, and the second token one more; o = 1 has no gap."""
    run = serve("svf", Workload([0, 9], [4, 4], [3, 1]), 10, pools=(1, 1), transfer=1.0)
    assert largest_token_gap(run).tolist()[0] == 6
    assert np.isnan(largest_token_gap(run)[1])
