"""Policies for predicted intervals do what their plain twins do, and what the papers found."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Scenario, Workload, find_policy, generate
from engine.demand.predictions import Bucket, Interval, with_predictions
from engine.policies.a_min import a_min
from engine.policies.sorted_f_online import in_batches
from engine.progress import silent
from engine.simulate.preempting import admission_limit
from engine.simulate.replanning_on_predictions import PlanningRule, replanning_on_predictions
from engine.workload import PREDICTED
from tests.engine.batches.test_exact import best_subset
from tests.engine.simulate.test_clocks import CLOCKS, LOOPS, compare
from tests.engine.simulate.test_online_policies import outgrown_cases, predicted_cases, shares
from tests.engine.simulate.test_predicted_lengths import in_loop
from tests.twins import plain_replanning
from tests.twins.plain_server import PlainServer
from tests.twins.strategies import instances

NOTHING_PREDICTED = dict.fromkeys(PREDICTED)

wrong_predictions = st.one_of(predicted_cases(), outgrown_cases())


def check(run, decide, clock):
    compare(run, PlainServer(run.workload, run.memory, clock).run(decide))


@settings(max_examples=1000)
@given(wrong_predictions, LOOPS, shares)
def test_a_min(case, concurrency, margin):
    """Any lower bounds, too high ones as well, in open and closed loops."""
    workload, memory, clock, lo = in_loop(case, concurrency)
    limit = admission_limit(memory, margin)
    lo = np.minimum(lo, memory - workload.prompt)
    run = a_min(workload, memory, lo, limit, clock, silent)
    check(run, plain_replanning.a_min(lo.tolist(), limit), clock)


@settings(max_examples=1000)
@given(wrong_predictions, st.booleans(), st.data(), shares)
def test_replanning_on_predictions(case, starts_over, data, margin):
    """Any batches, of any size and in any order, that change with who waits; either recovery."""
    workload, memory, clock, predicted = case
    n = len(workload)
    first, second = data.draw(st.permutations(range(n))), data.draw(st.permutations(range(n)))
    most = data.draw(st.integers(1, n))

    def batch(waiting, reckoned):
        key = first if len(waiting) % 2 else second
        return np.array(sorted(waiting, key=lambda i: (reckoned[i] // 8, key[i]))[:most])

    limit = admission_limit(memory, margin)
    predicted = np.minimum(predicted, memory - workload.prompt)
    rule = PlanningRule(predicted, batch, starts_over, limit)
    run = replanning_on_predictions(workload, memory, rule, clock, silent)

    def plain_batch(waiting, reckoned):
        return batch(waiting, reckoned).tolist()

    rule = (predicted.tolist(), starts_over, limit)
    check(run, plain_replanning.replanning(plain_batch, *rule), clock)


@settings(max_examples=200)
@given(wrong_predictions, st.booleans())
def test_sorted_f_on_wrong_predictions(case, starts_over):
    """Each batch is the best of all subsets of what waits, by the outputs reckoned with."""
    workload, memory, clock, predicted = case
    predicted = np.minimum(predicted, memory - workload.prompt)
    rule = (predicted, starts_over, memory)
    run = in_batches(workload, memory, *rule, clock, silent)

    def batch(waiting, reckoned):
        listed = sorted(waiting, key=lambda i: workload.row[i])
        output = [int(reckoned[i]) for i in listed]
        size = [int(workload.prompt[i] + reckoned[i]) for i in listed]
        chosen = [listed[place] for place in best_subset(output, size, memory)]
        return sorted(chosen, key=lambda i: (reckoned[i], i))

    rule = (predicted.tolist(), starts_over, memory)
    check(run, plain_replanning.replanning(batch, *rule), clock)


@pytest.mark.parametrize(
    ("key", "same"),
    [
        ("a-max", "mc-sf"),
        ("a-min", "mc-sf"),
        ("sorted-f-amin", "sorted-f-online"),
    ],
)
@settings(max_examples=150)
@given(instance=instances(), clock=CLOCKS)
def test_with_exact_predictions_they_are_the_clairvoyant_policy(key, same, instance, clock):
    """Start for start, also where the intervals are there and have no width."""
    workload, memory = instance
    told = replace(workload, predicted_lo=workload.output, predicted_hi=workload.output)
    clairvoyant = find_policy(same).run(workload, memory, clock=clock)
    for known in (workload, told):
        run = find_policy(key).run(known, memory, clock=clock)
        assert run.start.tolist() == clairvoyant.start.tolist()
        assert run.finished_at == pytest.approx(clairvoyant.finished_at, rel=1e-12)
        assert not run.gave_up_kv


def test_a_min_raises_the_bound_of_who_starts_over():
    """Bounds 2 and 3 in M = 12, by hand: each is the shortest once.

    At 5 the first starts over as one of at least 5, and is back at once beside the second,
    which is planned for one token more. At 7 the second has the lower bound, 3, starts over as
    one of at least 7, and fits beside the first, planned to end at 10.
    """
    workload = Workload([0, 0], [1, 1], [6, 8], predicted_lo=[2, 3], predicted_hi=[9, 9])
    run = find_policy("a-min").run(workload, 12)
    assert run.preemptions.tolist() == [1, 1]
    assert run.recomputed.tolist() == [5, 7]
    assert run.finish.tolist() == [11, 15]


@settings(max_examples=150)
@given(instances(), CLOCKS, st.floats(0, 5), st.integers(0, 99))
def test_a_max_never_overflows_in_intervals_that_hold(instance, clock, width, seed):
    """Upper ends that are upper ends: no KV cache is ever given up."""
    workload, memory = instance
    told = with_predictions(workload, Interval(width), seed)
    assert not find_policy("a-max").run(told, memory, clock=clock).gave_up_kv


def total_against_hindsight(workload, memory, keys=("a-min", "a-max")):
    """Total latency of each policy over that of shortest first which knows the outputs."""
    clairvoyant = find_policy("mc-sf").run(replace(workload, **NOTHING_PREDICTED), memory)
    totals = [find_policy(key).run(workload, memory).latency.sum() for key in keys]
    return [total / clairvoyant.latency.sum() for total in totals]


@pytest.mark.parametrize("memory", [4_000, 16_492])
def test_published_a_min_stays_near_hindsight_and_a_max_falls_behind(memory):
    """2508.14544: equal prompts, all at 0, chat outputs up to 1,000, bins as intervals.

    As bins widen from 1 to 1,000 tokens a-max ends 15 and more times above hindsight, a-min
    below 2.1 times (the paper, whose texts we know from summaries: close to it, and 5 times).
    """
    chat = generate(Scenario(n=1000, mix={"short": 1}))
    workload = Workload(chat.arrival, np.full(1000, 40), np.minimum(chat.output, 1000))
    adaptive, conservative = np.transpose(
        [
            total_against_hindsight(with_predictions(workload, Bucket(size)), memory)
            for size in (1, 50, 100, 250, 500, 1000)
        ]
    )
    assert adaptive[0] == conservative[0] == 1.0
    assert (np.diff(conservative) > 0).all()
    assert (adaptive < 2.1).all()
    assert (conservative[1:] > 1.1 * adaptive[1:]).all()
    assert conservative[-1] > 15


def test_published_centred_intervals():
    """2508.14544's [(1 - x) o, (1 + x) o]: both orders are the true one, a-max reserves more.

    The reconstruction is nearer to hindsight at x = 0.1, and does not reproduce the published
    lead of a-min from x = 0.5 on: there lower ends say little, and both are about alike.
    """
    chat = generate(Scenario(n=1000, mix={"short": 1}))
    output = np.minimum(chat.output, 1000)
    ratios = {}
    for x in (0.1, 0.5, 0.95, 0.99):
        low, high = np.maximum(np.floor((1 - x) * output), 1), np.ceil((1 + x) * output)
        workload = Workload(
            chat.arrival, np.full(1000, 40), output, predicted_lo=low, predicted_hi=high
        )
        ratios[x] = total_against_hindsight(workload, 4_000)
    assert ratios[0.1][0] < ratios[0.1][1]
    assert max(max(pair) for pair in ratios.values()) < 2.1
