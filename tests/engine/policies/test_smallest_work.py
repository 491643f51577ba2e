"""Smallest work first: svf on the seconds clock's own scale."""

import numpy as np
from hypothesis import given, settings

from engine import Scenario, find_policy, generate
from engine.machine.clock import seconds_clock
from tests.twins.strategies import instances

LLAMA_70B = seconds_clock(0.0372, 0.0001965, 90, 5.67e-8, 4.2e-5)


@settings(max_examples=100)
@given(instances())
def test_in_rounds_it_is_svf(instance):
    """Start for start: a round costs the same whatever is in it."""
    workload, memory = instance
    ours = find_policy("smallest-work").run(workload, memory)
    assert ours.start.tolist() == find_policy("svf").run(workload, memory).start.tolist()


def test_order_in_seconds():
    """By works added up over the two floors of docs/model.md 3.4, written out token by token."""
    workload = generate(Scenario(n=200))
    c0, c1, n0, c2, c3 = LLAMA_70B.step
    plain = []
    for s, o in zip(workload.prompt.tolist(), workload.output.tolist(), strict=True):
        held = sum(s + j for j in range(1, o + 1)) / 16_492
        read = sum(c2 * (s + j - 1) + c3 for j in range(2, o + 1))
        line = c1 * (s + o - 1) + read + (c0 - c1 * n0) * held
        plain.append(line + c1 * max(0, s - n0) + read + c0 * held)
    run = find_policy("smallest-work").run(workload, 16_492, clock=LLAMA_70B)
    assert np.argsort(plain, kind="stable").tolist() == run.order.tolist()


def test_it_gains_on_svf():
    """On a long backlog of the default mix, by more than 1 %."""
    workload = generate(Scenario(n=2000))
    ours, svf = (
        find_policy(key).run(workload, 16_492, clock=LLAMA_70B).latency.mean()
        for key in ("smallest-work", "svf")
    )
    assert ours < 0.99 * svf
