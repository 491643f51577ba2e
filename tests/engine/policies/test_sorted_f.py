"""The four Sorted-F policies: what they promise, on what they choose, and where they shine."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Workload, find_policy
from tests.twins.strategies import instances

SOLVERS = ["sorted-f-exact", "sorted-f-swap", "sorted-f-quantile"]
KEYS = ["sorted-f", *SOLVERS]


def order_of(key, workload, memory):
    return find_policy(key).run(workload, memory).order.tolist()


def total_latency(key, workload, memory):
    return find_policy(key).run(workload, memory).latency.sum()


def backlog(prompt, output):
    return Workload(np.zeros(len(prompt)), prompt, output)


def chats(n):
    random = np.random.default_rng(n)
    return backlog(random.integers(1, 300, n), random.integers(1, 200, n))


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=200)
@given(instance=instances(max_n=12), skip=st.integers(0, 3))
def test_runs_everyone_in_a_fixed_order(key, instance, skip):
    """The order is a permutation, whatever arrives when, the same every time."""
    workload, memory = instance
    run = find_policy(key).run(workload, memory, skip=skip)
    assert sorted(run.order.tolist()) == list(range(len(workload)))
    assert not run.gave_up_kv
    assert run.order.tolist() == order_of(key, workload, memory)


@pytest.mark.parametrize("key", KEYS)
def test_declares_what_it_is(key):
    """Rebuilt from summaries, and it ranks requests that have not arrived."""
    policy = find_policy(key)
    assert policy.reconstructed
    assert policy.offline
    assert policy.group == "provable"
    assert "reconstructed" in policy.source


@pytest.mark.parametrize(
    ("n", "solver"),
    [
        (1, "sorted-f-exact"),
        (100, "sorted-f-exact"),
        (101, "sorted-f-swap"),
        (2000, "sorted-f-swap"),
        (2001, "sorted-f-quantile"),
    ],
)
def test_chooses_the_solver_by_size(n, solver):
    """Exact up to 100, local search up to 2,000, quantiles above; and they differ."""
    workload, memory = chats(n), 2000
    chosen = order_of("sorted-f", workload, memory)
    assert chosen == order_of(solver, workload, memory)
    others = [key for key in SOLVERS if key != solver and (n <= 100 or key != "sorted-f-exact")]
    assert n == 1 or all(chosen != order_of(key, workload, memory) for key in others)


def test_falls_back_where_exact_refuses():
    """Lengths that need too many states get their batches from local search."""
    output = np.random.default_rng(0).integers(1, 10**6, 100)
    workload = backlog(2 * 10**6 + 1 - 2 * output, output)
    with pytest.raises(InputError, match="use sorted-f-swap"):
        find_policy("sorted-f-exact").run(workload, 10**7)
    assert sorted(order_of("sorted-f", workload, 10**7)) == list(range(100))


def test_exact_refuses_more_than_a_hundred():
    """And its declared cost keeps it from running unasked there."""
    exact = find_policy("sorted-f-exact")
    with pytest.raises(InputError, match="at most 100 requests, got 101: use sorted-f-swap"):
        exact.run(chats(101), 2000)
    assert exact.cost(100) < 0.05
    assert exact.cost(101) == math.inf


@pytest.mark.parametrize("key", KEYS)
def test_one_request(key):
    """A batch of one."""
    assert order_of(key, backlog([3], [4]), 7) == [0]


@pytest.mark.parametrize("key", KEYS)
def test_identical_requests(key):
    """Everybody ties: the rows of the trace decide."""
    assert order_of(key, backlog([5] * 50, [3] * 50), 40) == list(range(50))


@pytest.mark.parametrize("key", KEYS)
def test_requests_that_each_fill_memory(key):
    """Batches of one, by ascending output: F of one request is its output."""
    assert order_of(key, backlog([5, 9, 3, 8], [5, 1, 7, 2]), 10) == [1, 3, 0, 2]


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=200)
@given(instance=instances(max_n=12))
def test_unlimited_memory_means_shortest_output_first(key, instance):
    """With room for all, every batch is a prefix by ascending output, so is their list.

    It ends where the next output is twice the mean or more, so not all need be in one batch.
    """
    workload, _ = instance
    memory = int(workload.peak.sum())
    assert order_of(key, workload, memory) == workload.ascending(workload.output).tolist()


@pytest.mark.parametrize("key", KEYS)
def test_reports_how_far_it_is(key):
    """After each batch, rising to 1; an exception from the listener stops the search."""
    shares = []
    policy = find_policy(key)
    policy.run(chats(100), 2000, progress=lambda share, _sentence="": shares.append(share))
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert shares[-1] == 1

    def cancel(share, sentence=""):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        policy.run(chats(100), 2000, progress=cancel)


@pytest.mark.parametrize(
    ("memory", "ratio"), [(64, 2.2), (100, 2.71), (400, 4.97), (900, 7.32), (1600, 9.44)]
)
def test_where_shortest_output_fails(memory, ratio):
    """sqrt(M) requests (M - 1, 1) and M of (1, 2): MC-SF's ratio grows, Sorted-F's does not."""
    fat, thin = math.isqrt(memory), memory
    workload = backlog([memory - 1] * fat + [1] * thin, [1] * fat + [2] * thin)
    small_first = total_latency("svf", workload, memory)
    keys = KEYS if memory == 64 else [key for key in KEYS if key != "sorted-f-exact"]
    for key in keys:
        assert total_latency(key, workload, memory) <= 1.01 * small_first
    assert total_latency("mc-sf", workload, memory) / small_first == pytest.approx(ratio, abs=0.05)


@pytest.mark.parametrize(
    ("root", "ratio"), [(2, 1.52), (4, 2.91), (6, 4.33), (8, 5.67), (10, 7.00)]
)
def test_where_smallest_total_fails(root, ratio):
    """20 of (L^2, L) and 20 sqrt(L) of (L^2 + L, 1): the longer ones are the smaller by a token."""
    length = root**2
    slim, quick = 20, 20 * root
    workload = backlog(
        [length**2] * slim + [length**2 + length] * quick, [length] * slim + [1] * quick
    )
    memory = 20 * (length**2 + length + 1)
    quick_first = total_latency("mc-sf", workload, memory)
    keys = KEYS if slim + quick <= 100 else [key for key in KEYS if key != "sorted-f-exact"]
    for key in keys:
        assert total_latency(key, workload, memory) <= 1.01 * quick_first
    shortest_total = total_latency("shortest-total", workload, memory)
    assert shortest_total / quick_first == pytest.approx(ratio, abs=0.005)
