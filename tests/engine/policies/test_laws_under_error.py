"""Laws that hold however wrong predictions are: for every policy, clock and fleet."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import METHODS, POLICIES
from engine.demand.predictions import with_predictions
from engine.fleet import ROUTINGS, Topology
from engine.machine.clock import ROUNDS
from tests.engine.demand.test_predictions import models
from tests.engine.policies.test_laws import check_laws, params_of, run_if_possible, run_unless_stuck
from tests.engine.simulate.test_clocks import CLOCKS
from tests.twins.strategies import instances


@st.composite
def predicted_instances(draw, **given):
    """(workload, memory): predicted by a model, or by any numbers at all."""
    workload, memory = draw(instances(**given))
    n = len(workload)
    if draw(st.booleans()):
        return with_predictions(workload, draw(models), draw(st.integers(0, 99))), memory
    any_tokens = st.lists(st.integers(1, 60), min_size=n, max_size=n)
    low, point, high = (np.array(draw(any_tokens)) for _ in range(3))
    low, high = np.minimum(low, high), np.maximum(low, high)
    return replace(workload, predicted=point, predicted_lo=low, predicted_hi=high), memory


def bounds_of(workload, memory, clock, replicas):
    """The quick bounds, which know the true outputs."""
    key = "fluid" if clock.is_rounds else "srpt"
    return METHODS[key].bounds(workload, memory, clock=clock, replicas=replicas)


@pytest.mark.parametrize("key", POLICIES)
@settings(max_examples=40)
@given(data=st.data(), instance=predicted_instances(max_n=10), clock=CLOCKS)
def test_laws_under_error(key, data, instance, clock):
    """All are served within M, it ends, twice the same, and no bound that covers it is beaten."""
    workload, memory = instance
    policy = POLICIES[key]
    looks_ahead = policy.offline or policy.waits_for_more
    routings = ["round-robin"] if looks_ahead else sorted(ROUTINGS)
    topology = Topology(data.draw(st.integers(1, 3)), data.draw(st.sampled_from(routings)))
    params = data.draw(params_of(policy))
    memory += -memory % params.get("block_size", 1)  # whole blocks hold everybody

    def simulate():
        return run_unless_stuck(policy, workload, memory, clock, topology, **params)

    run = simulate()
    if run is None:
        return
    assert len(run.workload) == len(workload)
    for part in run.parts:
        check_laws(part)
    if not policy.timed:
        assert (simulate().finished_at == run.finished_at).all()
    for bound in bounds_of(workload, memory, clock, topology.replicas):
        if bound.covers(run):
            assert bound.value <= run.latency.sum() * (1 + 1e-9) + 1e-6


BLIND = [key for key, policy in POLICIES.items() if not policy.uses_lengths]


@pytest.mark.parametrize("key", BLIND)
@settings(max_examples=30)
@given(data=st.data(), instance=predicted_instances(), clock=CLOCKS)
def test_who_uses_no_lengths_sees_no_predictions(key, data, instance, clock):
    """Their runs are those without predictions."""
    workload, memory = instance
    params = data.draw(params_of(POLICIES[key]))
    known = replace(workload, predicted=None, predicted_lo=None, predicted_hi=None)
    runs = [
        run_if_possible(POLICIES[key], each, memory, clock=clock, **params)
        for each in (workload, known)
    ]
    if runs[0] is not None:
        assert runs[0].finished_at.tolist() == runs[1].finished_at.tolist()


@settings(max_examples=40)
@given(st.data(), predicted_instances(max_n=7, max_memory=18))
def test_no_run_beats_any_bound_in_rounds(data, instance):
    """Every bound against every policy; what starts over or is recomputed included."""
    workload, memory = instance
    able = [method for method in METHODS.values() if method.speaks(ROUNDS)]
    bounds = [bound for method in able for bound in method.bounds(workload, memory)]
    for policy in POLICIES.values():
        run = run_if_possible(policy, workload, memory, **data.draw(params_of(policy)))
        for bound in bounds:
            if run is not None and bound.covers(run):
                assert bound.value <= run.latency.sum() + 1e-6, (policy.key, bound.bound)
