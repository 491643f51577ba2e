"""The cuts of large requests hold for every schedule, and bite where two cannot meet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload, find_policy
from engine.proof.time_indexed import model_up_to
from engine.proof.time_indexed.exclusion import exclusions
from tests.twins.strategies import instances


@settings(max_examples=400)
@given(instances(max_n=8, max_memory=20), st.sampled_from(["svf", "fcfs", "mc-sf", "reverse"]))
def test_every_schedule_keeps_them(instance, key):
    """Whatever the order, with and without arrivals, prompts alike or not."""
    workload, memory = instance
    run = find_policy(key).run(workload, memory, skip=3)
    model = model_up_to(workload, memory, np.full(len(workload), int(run.start.max())))
    is_chosen = model.start == run.start[model.request]
    for most, columns in exclusions(model):
        assert is_chosen[columns].sum() <= most


@settings(max_examples=200)
@given(st.integers(1, 6), st.integers(1, 20), st.integers(2, 25))
def test_two_alike_are_kept_apart_exactly(prompt, output, memory):
    """Of two equal requests, one memory after the other: the first start that fits is no cut's
    business, and the one before is."""
    if prompt + output > memory or prompt + 2 > output:
        return
    workload = Workload([0, 0], [prompt] * 2, [output] * 2)
    apart = int(find_policy("fcfs").run(workload, memory).start[1])
    model = model_up_to(workload, memory, np.full(2, output + 1))

    def are_cut(starts):
        chosen = np.flatnonzero(model.start == np.array(starts)[model.request])
        return any(np.isin(chosen, columns).sum() > most for most, columns in exclusions(model))

    assert not are_cut([0, apart])
    if 0 < apart < output:
        assert are_cut([0, apart - 1])


@pytest.mark.parametrize("q", [2, 3])
def test_there_are_cuts(q):
    """Requests that fill half of M and more: some cut lets one of them run, some two."""
    workload = Workload([0] * 4, [2] * 4, [9, 10, 11, 12])
    model = model_up_to(workload, 15, np.full(4, 20))
    assert q - 1 in {most for most, _ in exclusions(model)}
