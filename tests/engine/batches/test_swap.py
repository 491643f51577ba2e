"""Local search: a feasible batch, no worse than its start, that no single move betters."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batches.objective import better, lower
from engine.batches.peel import peel
from engine.batches.swap import greedy, improve, swap
from tests.twins.batches import check_batches, crowds, sums_of
from tests.twins.strategies import instances

ANY = crowds(max_n=12) | instances(max_n=12, max_memory=200)


def by_row(instance):
    workload, memory = instance
    rows = np.argsort(workload.row)
    return workload.output[rows], workload.peak[rows], memory


def best_fill(output, size, memory):
    """The sums of the best prefix of the three greedy fills, by the plainest loop."""
    n = len(output)
    volume = [
        (size[i] - output[i]) * output[i] + output[i] * (output[i] + 1) // 2 for i in range(n)
    ]
    best = None
    for key in (output, size, volume):
        batch = []
        for i in sorted(range(n), key=lambda i: (key[i], size[i], i)):
            if sum(size[j] for j in batch) + size[i] <= memory:
                batch.append(i)
                sums = sums_of(batch, output, size)
                if best is None or better(sums, best):
                    best = sums
    return best


@settings(max_examples=500)
@given(ANY)
def test_start_is_the_best_greedy_fill(instance):
    """By ascending output, size and volume, each cut where F is least."""
    output, size, memory = by_row(instance)
    start = sums_of(greedy(output, size, memory), output, size)
    assert start == best_fill(output, size, memory)


def neighbours(chosen, size, memory):
    """Every feasible batch one exchange, addition or drop away."""
    members, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    for leaves in [None, *members]:
        for enters in [None, *others]:
            batch = chosen.copy()
            if leaves is not None:
                batch[leaves] = False
            if enters is not None:
                batch[enters] = True
            if batch.any() and size[batch].sum() <= memory:
                yield batch


@settings(max_examples=500)
@given(ANY, st.data())
def test_from_any_start(instance, data):
    """It ends feasible, not above the start's F, and all neighbours tried are no better."""
    output, size, memory = by_row(instance)
    order = data.draw(st.permutations(range(len(output))))
    start = np.zeros(len(output), bool)
    for i in order[: data.draw(st.integers(1, len(order)))]:
        start[i] = size[start].sum() + size[i] <= memory
    before = start.copy()
    chosen = improve(start, output, size, memory)
    assert (start == before).all()
    assert size[chosen].sum() <= memory
    reached = sums_of(chosen, output, size)
    assert not lower(sums_of(start, output, size), reached)
    for batch in neighbours(chosen, size, memory):
        assert not better(sums_of(batch, output, size), reached)


@settings(max_examples=300)
@given(ANY)
def test_search_begins_with_the_greedy_fill(instance):
    """So its F is never above that of the best fill."""
    output, size, memory = by_row(instance)
    start = greedy(output, size, memory)
    assert (swap(output, size, memory) == improve(start, output, size, memory)).all()


@settings(max_examples=300)
@given(ANY)
def test_peels_everyone_once(instance):
    """Phase 1 is a list of feasible batches with every request in one of them."""
    workload, memory = instance
    batches = peel(workload, memory, swap)
    check_batches(batches, workload, memory)
    assert batches.order.tolist() == peel(workload, memory, swap).order.tolist()


def test_an_exchange_that_the_fills_miss():
    """Outputs 4, 2, 5, 3 of sizes 7, 9, 6, 5 in M = 12: the fill by size takes 3 and 5, F = 8/4.

    The 4 instead of the 5 just fits: 7/4.
    """
    output, size = np.array([4, 2, 5, 3]), np.array([7, 9, 6, 5])
    assert greedy(output, size, 12).tolist() == [False, False, True, True]
    assert swap(output, size, 12).tolist() == [True, False, False, True]
