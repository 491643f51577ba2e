"""The game plays by the policies' rules."""

from itertools import permutations

import pytest

from engine.improve.hindsight import best_in_hindsight
from engine.learn.puzzle import MEMORY, REQUESTS, Puzzle, read_order, write_order
from engine.memory_curve import memory_curve
from tests.twins import twin

SEEDS = [0, 1, 2, 20261130]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_order_runs_like_the_twin(seed):
    """Each request of the given order starts as soon as it fits; those left out follow."""
    puzzle = Puzzle(seed)
    assert puzzle.workload.peak.max() <= MEMORY
    for order in ([], [5, 2, 7], list(range(REQUESTS))[::-1]):
        run = puzzle.play(order)
        whole = puzzle.completed(order)
        assert sorted(whole) == list(range(REQUESTS))
        assert run.start.tolist() == twin.look_ahead_starts(puzzle.workload, MEMORY, whole)
        assert memory_curve(run).peak <= MEMORY


def test_a_policy_s_order_gives_its_run():
    """Whoever plays svf's order gets svf's total, so a policy can be matched."""
    puzzle = Puzzle(3)
    order = puzzle.rivals["svf"].order.tolist()
    assert puzzle.play(order).latency.sum() == puzzle.rivals["svf"].latency.sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_hint_is_the_best_single_move(seed):
    """It saves what it says; following hints never ends below the optimum."""
    puzzle, order = Puzzle(seed), []
    best = best_in_hindsight(puzzle.workload, MEMORY, 20.0).lower
    while move := puzzle.best_move(order):
        before = puzzle.play(order).latency.sum()
        order = [i for i in puzzle.completed(order) if i != move.request]
        order.insert(move.place, move.request)
        assert before - puzzle.play(order).latency.sum() == move.saves > 0
    total = puzzle.play(order).latency.sum()
    assert total >= best - 1e-6
    swaps = [
        [*order[:i], order[j], *order[i + 1 : j], order[i], *order[j + 1 :]]
        for i, j in permutations(range(REQUESTS), 2)
        if j == i + 1
    ]
    assert min(puzzle.play(swap).latency.sum() for swap in swaps) >= total


@pytest.mark.parametrize("text", ["", "3", "3.0.7"])
def test_order_in_a_link(text):
    """It comes back as it went."""
    assert write_order(read_order(text)) == text


@pytest.mark.parametrize("text", ["x", "3.3", "12", "-1", "1..2", "1.5e3", "0." * 40])
def test_bad_order_in_a_link(text):
    """Nonsense is no order."""
    assert read_order(text) == []


def test_same_seed_same_puzzle():
    """Everybody gets the same requests, now and later."""
    assert Puzzle(7).workload.prompt.tolist() == [7, 9, 8, 3, 4, 9, 1, 9, 8, 5, 4, 3]
    assert Puzzle(7).workload.output.tolist() == [2, 3, 4, 4, 6, 5, 4, 6, 2, 1, 4, 1]
    assert Puzzle(7).workload.digest != Puzzle(8).workload.digest
