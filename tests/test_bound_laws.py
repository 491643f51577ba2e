"""No run beats a bound that claims to cover it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import METHODS, POLICIES
from tests.strategies import instances
from tests.test_laws import params_of


@settings(max_examples=400)
@given(st.data(), instances(max_n=7, max_memory=18))
def test_no_run_beats_a_bound(data, instance):
    """All policies with any parameters, all bounds, with and without arrivals."""
    workload, memory = instance
    bounds = [bound for method in METHODS.values() for bound in method.bounds(workload, memory)]
    assert any(bound.covers_preemption for bound in bounds)
    for policy in POLICIES.values():
        run = policy.run(workload, memory, **data.draw(params_of(policy)))
        for bound in bounds:
            if bound.covers(run):
                assert bound.value <= run.latency.sum() + 1e-6, (policy.key, bound.bound)


def test_preemption_does_beat_bounds_that_do_not_cover_it():
    """Else the coverage rule would not be tested by the law above."""
    from engine import Workload

    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    run = POLICIES["vllm"].run(workload, 10)
    rows = {b.bound: b for method in METHODS.values() for b in method.bounds(workload, 10)}
    assert rows["lp"].value > run.latency.sum()
    assert not rows["lp"].covers(run)
    assert not rows["hindsight"].covers(run)
    assert rows["lp-preemptive"].covers(run)
