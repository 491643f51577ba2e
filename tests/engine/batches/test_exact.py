"""The dynamic program finds what trying every subset finds, ties included."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Workload
from engine.batches.exact import exact
from engine.batches.peel import peel
from engine.batches.swap import swap
from tests.twins.batches import check_batches, crowds
from tests.twins.strategies import instances


def best_subset(output, size, memory):
    """Indices of the batch of least F by trying all: count, size, then the list break ties."""
    n = len(output)
    subsets = (subset for k in range(1, n + 1) for subset in combinations(range(n), k))
    fitting = (subset for subset in subsets if sum(size[i] for i in subset) <= memory)
    return list(
        min(
            fitting,
            key=lambda subset: (
                Fraction(sum(output[i] for i in subset), len(subset) ** 2),
                -len(subset),
                sum(size[i] for i in subset),
                subset,
            ),
        )
    )


def brute_force_batches(workload, memory):
    """Phase 1 as rows, by trying every subset of what remains."""
    left = sorted(range(len(workload)), key=lambda i: workload.row[i])
    batches = []
    while left:
        output = [int(workload.output[i]) for i in left]
        size = [int(workload.peak[i]) for i in left]
        batch = [left[place] for place in best_subset(output, size, memory)]
        left = [i for i in left if i not in batch]
        batches.append(
            sorted(batch, key=lambda i: (workload.output[i], workload.arrival[i], workload.row[i]))
        )
    return batches


@settings(max_examples=400)
@given(crowds())
def test_equals_brute_force_where_ties_abound(instance):
    """Batch for batch and place for place, with lengths of 1 to 4 tokens."""
    workload, memory = instance
    batches = peel(workload, memory, exact)
    check_batches(batches, workload, memory)
    assert [batch.tolist() for batch in batches] == brute_force_batches(workload, memory)


@settings(max_examples=400)
@given(instances(max_n=9, max_memory=200))
def test_equals_brute_force_on_any_lengths(instance):
    """The same where requests take very different shares of M."""
    workload, memory = instance
    batches = peel(workload, memory, exact)
    assert [batch.tolist() for batch in batches] == brute_force_batches(workload, memory)


@settings(max_examples=200)
@given(st.data(), st.sampled_from([10**6, 10**9]))
def test_equals_brute_force_on_long_requests(data, longest):
    """Rounding decides nothing: lengths up to 10^9, and M to fit about half of them."""
    tokens = st.integers(longest - 3, longest) | st.integers(1, longest) | st.integers(1, 3)
    output = np.array(data.draw(st.lists(tokens, min_size=1, max_size=8)))
    prompt = np.array(data.draw(st.lists(tokens, min_size=len(output), max_size=len(output))))
    size = prompt + output
    memory = data.draw(st.integers(int(size.max()), int(size.sum())))
    found = np.flatnonzero(exact(output, size, memory)).tolist()
    assert found == best_subset(output.tolist(), size.tolist(), memory)


def least_by_table(output, size, memory):
    """Least F by the textbook table: least outputs of each count within each memory."""
    n = len(output)
    least = np.full((n + 1, memory + 1), np.inf)
    least[0] = 0
    for o, s in zip(output, size, strict=True):
        least[1:, s:] = np.minimum(least[1:, s:], least[:-1, : memory + 1 - s] + o)
    return min(least[k, memory] / k**2 for k in range(1, n + 1))


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_table_at_a_hundred_requests(seed):
    """More requests than subsets can be tried for: F as a program over (count, memory)."""
    random = np.random.default_rng(seed)
    longest = (5, 60, 400)[seed % 3]
    output = random.integers(1, longest, 100)
    size = output + random.integers(1, longest, 100)
    chosen = exact(output, size, 1500)
    assert size[chosen].sum() <= 1500
    assert output[chosen].sum() / chosen.sum() ** 2 == least_by_table(output, size, 1500)


def test_beats_local_search():
    """Outputs 3, 7, 4, 5, 2 of sizes 7, 12, 6, 6, 9 in M = 13: 3 and 4 just fit, F = 7/4.

    Every fill and every single move ends with the 2 alone, F = 2.
    """
    output, size = np.array([3, 7, 4, 5, 2]), np.array([7, 12, 6, 6, 9])
    assert np.flatnonzero(swap(output, size, 13)).tolist() == [4]
    assert np.flatnonzero(exact(output, size, 13)).tolist() == [0, 2]


def test_first_rows_although_local_search_ties():
    """Outputs 2, 2, 1, 3 of sizes 5, 5, 6, 4 in M = 10: both pairs have outputs 4 and size 10."""
    output, size = np.array([2, 2, 1, 3]), np.array([5, 5, 6, 4])
    assert np.flatnonzero(swap(output, size, 10)).tolist() == [2, 3]
    assert np.flatnonzero(exact(output, size, 10)).tolist() == [0, 1]


def test_lexicographic_among_equals():
    """Of identical requests those of the smallest rows come first."""
    workload = Workload([0] * 4, [2] * 4, [1] * 4, row=[3, 1, 0, 2])
    assert peel(workload, 6, exact).order.tolist() == [2, 1, 3, 0]


def test_refuses_a_hundred_and_one():
    """The message names the policy that takes any number."""
    ones = np.ones(101, np.int64)
    with pytest.raises(InputError, match="at most 100 requests, got 101: use sorted-f-swap"):
        exact(ones, 2 * ones, 10)


def test_refuses_lengths_that_need_too_many_states():
    """Prompts that fall as outputs rise make least F a hard sum of subsets."""
    output = np.random.default_rng(0).integers(1, 10**6, 100)
    workload = Workload(np.zeros(100), 2 * 10**6 + 1 - 2 * output, output)
    with pytest.raises(InputError, match=r"states .* use sorted-f-swap"):
        peel(workload, 10**7, exact)
