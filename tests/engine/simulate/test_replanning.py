"""A plan made anew: the kernel that jumps equals a twin that walks every round."""

from math import ceil

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload, find_policy
from engine.batches.exact import LIMIT
from engine.batches.swap import swap
from engine.machine.clock import ROUNDS
from engine.progress import silent
from engine.simulate.replanning import replanning
from tests.engine.batches.test_exact import best_subset
from tests.twins import twin
from tests.twins.batches import crowds
from tests.twins.strategies import instances


def walk(workload, memory, batch):
    """Starts by the rule of engine/simulate/replanning.py, looking at every round."""
    n = len(workload)
    prompt, output = workload.prompt.tolist(), workload.output.tolist()
    seen_from = [ceil(a) for a in workload.arrival.tolist()]
    start, plan, begun_with, now = {}, [], 0, 0
    while len(start) < n:
        if now in seen_from:
            plan = []
        while waiting := [i for i in range(n) if seen_from[i] <= now and i not in start]:
            if not plan:
                plan, begun_with = list(batch(waiting)), len(start)
            if fits(start, prompt, output, memory, plan[0], now):
                start[plan.pop(0)] = now
            elif len(start) > begun_with:
                plan = []
            else:
                break
        now += 1
    return [start[i] for i in range(n)]


def fits(start, prompt, output, memory, newcomer, now):
    """Whether no round of the newcomer's life overflows if nothing else starts."""
    starts = {**start, newcomer: now}
    return all(
        sum(twin.held(prompt[i], k, output[i], at) for i, k in starts.items()) <= memory
        for at in range(now + 1, now + output[newcomer] + 1)
    )


def batch_by_trying_all(workload, memory):
    """The next batch of Sorted-F, from every subset of what waits."""

    def batch(waiting):
        listed = sorted(waiting, key=lambda i: workload.row[i])
        output = [int(workload.output[i]) for i in listed]
        size = [int(workload.peak[i]) for i in listed]
        chosen = [listed[place] for place in best_subset(output, size, memory)]
        return sorted(
            chosen, key=lambda i: (workload.output[i], workload.arrival[i], workload.row[i])
        )

    return batch


@settings(max_examples=300)
@given(instances(max_n=7, max_memory=30))
def test_sorted_f_online_equals_the_walk(instance):
    """Start for start, with arrivals at 0, whole or fractional."""
    workload, memory = instance
    run = find_policy("sorted-f-online").run(workload, memory)
    assert run.start.tolist() == walk(workload, memory, batch_by_trying_all(workload, memory))


@settings(max_examples=200)
@given(crowds(max_n=8))
def test_sorted_f_online_breaks_ties_alike(instance):
    """Short lengths, where many batches have the same F, and shuffled rows."""
    workload, memory = instance
    run = find_policy("sorted-f-online").run(workload, memory)
    assert run.start.tolist() == walk(workload, memory, batch_by_trying_all(workload, memory))


@settings(max_examples=300)
@given(st.data(), instances(max_n=12))
def test_any_batches(data, instance):
    """Whatever is planned: batches of any size, in any order, that change with who waits."""
    workload, memory = instance
    n = len(workload)
    first, second = data.draw(st.permutations(range(n))), data.draw(st.permutations(range(n)))
    most = data.draw(st.integers(1, n))

    def batch(waiting):
        key = first if len(waiting) % 2 else second
        return np.array(sorted(waiting, key=lambda i: key[i])[:most])

    run = replanning(workload, memory, batch, ROUNDS, silent)
    assert run.start.tolist() == walk(workload, memory, batch)


@settings(max_examples=200)
@given(st.data(), instances(max_n=10))
def test_a_plan_that_never_changes_is_a_list(data, instance):
    """Always everyone, in one order: what list policies do under the prefix rule."""
    workload, memory = instance
    order = data.draw(st.permutations(range(len(workload))))
    rank = np.argsort(order)
    run = replanning(
        workload, memory, lambda waiting: waiting[np.argsort(rank[waiting])], ROUNDS, silent
    )
    assert run.start.tolist() == twin.look_ahead_starts(workload, memory, order)


def test_a_crowd_is_planned_by_local_search():
    """More than the exact program takes wait at first, and fewer later."""
    rng = np.random.default_rng(0)
    n = LIMIT + 20
    workload = Workload(np.zeros(n), rng.integers(1, 7, n), rng.integers(1, 6, n))
    whole = find_policy("sorted-f-online").run(workload, 40)
    everyone = swap(workload.output, workload.peak, 40)
    assert set(np.flatnonzero(whole.start == 0)) >= set(np.flatnonzero(everyone))

    def batch(waiting):
        waiting = np.array(waiting)
        if len(waiting) > LIMIT:
            chosen = waiting[swap(workload.output[waiting], workload.peak[waiting], 40)]
            return chosen[np.lexsort((chosen, workload.output[chosen]))]
        return waiting[np.lexsort((waiting, workload.volume[waiting]))]

    run = replanning(workload, 40, batch, ROUNDS, silent)
    assert run.start.tolist() == walk(workload, 40, batch)


def test_it_tells_how_far_it_is():
    """A rising share that ends at 1."""
    shares = []
    workload = Workload([0, 0, 3, 9], [3, 4, 2, 5], [3, 2, 5, 2])
    online = find_policy("sorted-f-online")
    online.run(workload, 9, progress=lambda share, _sentence="": shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == 1
