"""The quantile fills: equal to a plain twin, feasible, the same every time, and linear."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload
from engine.batches.objective import better
from engine.batches.quantile import quantile
from tests.twins.batches import check_batches, crowds, sums_of
from tests.twins.strategies import instances


def quantile_limits(size):
    """The sizes below which 1/128, 1/64, .., 1/2 and all of a sample lie."""
    sample = sorted(size[:: max(1, len(size) // 1000)])
    return [sample[math.floor((len(sample) - 1) / 2**j)] for j in range(7, 0, -1)] + [math.inf]


def candidates(left, output, size, memory, limits):
    """Every prefix of the fill below each limit, as indices by ascending output."""
    for limit in limits:
        batch = []
        for i in left:
            if size[i] <= limit:
                if size[batch].sum() + size[i] > memory:
                    break
                batch = [*batch, i]
                yield batch


def twin(workload, memory):
    """The batches by the module's words alone: nothing is kept from one batch to the next."""
    left = workload.ascending(workload.output).tolist()
    output, size = workload.output, workload.peak
    batches = []
    while left:
        limits = quantile_limits([int(size[i]) for i in left])
        enough, taken = len(left) / 16, 0
        while taken < enough:
            best = []
            for batch in candidates(left, output, size, memory, limits):
                if not best or better(sums_of(batch, output, size), sums_of(best, output, size)):
                    best = batch
            batches.append(best)
            taken += len(best)
            left = [i for i in left if i not in best]
    return batches


@settings(max_examples=300)
@given(crowds(max_n=60) | instances(max_n=60, max_memory=300))
def test_equals_its_twin(instance):
    """Batch for batch: moving heads and kept candidates change nothing."""
    workload, memory = instance
    batches = quantile(workload, memory)
    check_batches(batches, workload, memory)
    assert [batch.tolist() for batch in batches] == twin(workload, memory)


def test_equals_its_twin_where_it_samples():
    """With more requests than the sample takes, every second and later every one is looked at."""
    random = np.random.default_rng(0)
    n = 2100
    workload = Workload(np.zeros(n), random.integers(1, 900, n), random.integers(1, 300, n))
    batches = quantile(workload, 60_000)
    assert [batch.tolist() for batch in batches] == twin(workload, 60_000)


@settings(max_examples=100)
@given(crowds(max_n=40), st.integers(0, 2**32 - 1))
def test_chance_has_no_part(instance, seed):
    """The same batches whatever the state of numpy's global generator."""
    workload, memory = instance
    first = quantile(workload, memory)
    np.random.seed(seed)  # noqa: NPY002  (the state that must not matter)
    again = quantile(workload, memory)
    assert first.order.tolist() == again.order.tolist()
    assert first.ends.tolist() == again.ends.tolist()


def thin_long_and_fat_short(n):
    """Half (1, 1000), half (999999, 1): batches of a hundred fat ones beside a list of n / 2."""
    odd = np.arange(n) % 2
    return Workload(np.zeros(n), np.where(odd, 999_999, 1), np.where(odd, 1, 1000))


def all_sizes(n):
    """Outputs over six decades, prompts the other way round: every level has its turn."""
    output = np.exp(np.random.default_rng(0).random(n) * np.log(1e6)).astype(np.int64) + 1
    return Workload(np.zeros(n), np.maximum(10**6 // output, 1), output)


@pytest.mark.parametrize(
    ("crowd", "memory"), [(thin_long_and_fat_short, 10**8), (all_sizes, 2 * 10**6)]
)
def test_thousands_of_batches_rescan_nothing(crowd, memory):
    """Eight times the requests take far less than the 64 times of a quadratic peeling."""
    times = []
    for n in (20_000, 160_000):
        workload = crowd(n)
        check_batches(quantile(workload, memory), workload, memory)
        spent = []
        for _ in range(3):
            begin = time.process_time()
            quantile(workload, memory)
            spent.append(time.process_time() - begin)
        times.append(min(spent))
    assert times[1] < 24 * times[0]
