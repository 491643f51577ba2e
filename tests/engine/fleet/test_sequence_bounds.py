"""Bounds know that an engine runs no more than max_num_seqs requests at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Choice, Deployment, Workload
from engine.bound import best_cover
from engine.bound_method import find_method
from engine.engines import read_engine
from engine.fleet.sequence_bounds import as_memory
from engine.machine.clock import ROUNDS, seconds_clock

GPU = seconds_clock(0.5, 0.001, 4, 1e-6, 1e-4)


def deployed(most, clock=ROUNDS, memory=1000):
    return Deployment(memory, clock, engine=read_engine(f"vllm:max_num_seqs={most},block_size=1"))


@pytest.mark.parametrize(("most", "total"), [(2, 1100.0), (3, 770.0)])
def test_requests_that_go_in_pairs(most, total):
    """Twenty outputs of ten, S at once: S end after every ten rounds, whatever memory there is."""
    workload = Workload([0.0] * 20, [1] * 20, [10] * 20)
    there = deployed(most)
    assert there.run(Choice("fcfs"), workload).latency.sum() == total
    (row, last) = there.bounds(find_method("prices"), workload)
    assert row.value == pytest.approx(total, rel=1e-6)
    assert 0.99 * total < last.value <= total
    assert not last.prices  # they would be of another memory
    assert deployed(0).bounds(find_method("prices"), workload)[0].value == 200.0


def test_so_many_seconds_at_least():
    """Every output takes ten rounds of half a second."""
    workload = Workload([0.0] * 20, [1] * 20, [10] * 20)
    rows = deployed(2, GPU).bounds(find_method("prices"), workload)
    run = deployed(2, GPU).run(Choice("fcfs"), workload)
    cover = best_cover(run, rows)
    assert 0.95 * run.latency.sum() < cover.value < run.latency.sum()
    assert cover.clock == GPU


sizes = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=9)


@given(sizes, st.integers(1, 4))
def test_that_many_fit(pairs, most):
    """Any S of the requests, each at its end, hold no more than the memory that stands for S."""
    prompt, output = map(list, zip(*pairs, strict=True))
    held, memory, _ = as_memory(most, Workload([0.0] * len(pairs), prompt, output), ROUNDS)
    assert np.sort(held.peak)[-most:].sum() <= memory


@pytest.mark.parametrize("clock", [ROUNDS, GPU], ids=["rounds", "seconds"])
@given(sizes, st.integers(1, 4), st.data())
def test_nobody_is_below(clock, pairs, most, data):
    """Whatever the order, also where memory is short and requests are preempted."""
    prompt, output = map(list, zip(*pairs, strict=True))
    arrival = data.draw(st.lists(st.integers(0, 20), min_size=len(pairs), max_size=len(pairs)))
    workload = Workload(sorted(map(float, arrival)), prompt, output)
    there = deployed(most, clock, data.draw(st.integers(20, 60)))
    keys = ["fluid", "prices"] if clock.is_rounds else ["srpt", "prices"]
    rows = [row for key in keys for row in there.bounds(find_method(key), workload)]
    for key in ("fcfs", "svf"):
        run = there.run(Choice(key), workload)
        assert best_cover(run, rows).value <= run.latency.sum() * (1 + 1e-9)
