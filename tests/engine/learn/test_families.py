"""The families lose what they are known to lose."""

import pytest

from engine.learn.families import (
    fat_and_tiny,
    lasting_and_brief,
    long_then_shorts,
    small_first,
    worst_release,
)
from engine.learn.lessons import adversary
from engine.memory_curve import memory_curve
from engine.policy import find_policy


def loss(key, workload, memory):
    """Total latency of the policy over that of the small ones first."""
    best = small_first(workload, memory)
    assert memory_curve(best).peak <= memory
    assert (best.start >= workload.arrival).all()
    return find_policy(key).run(workload, memory).latency.sum() / best.latency.sum()


@pytest.mark.parametrize(
    ("memory", "known"), [(100, 2.71), (400, 4.97), (900, 7.32), (1600, 9.44), (2500, 11.67)]
)
def test_fat_and_tiny(memory, known):
    """MC-SF's ratio grows with the square root of M."""
    assert loss("mc-sf", fat_and_tiny(memory), memory) == pytest.approx(known, abs=0.006)


@pytest.mark.parametrize(("length", "known"), [(4, 1.52), (16, 2.91), (36, 4.33), (64, 5.67)])
def test_lasting_and_brief(length, known):
    """So does that of ordering by total size, with L."""
    workload, memory = lasting_and_brief(length, 20)
    assert memory == 20 * (length**2 + length + 1)
    assert loss("shortest-total", workload, memory) == pytest.approx(known, abs=0.006)


@pytest.mark.parametrize(("memory", "known"), [(100, 2.09), (400, 3.40), (900, 4.72)])
def test_long_then_shorts(memory, known):
    """And that of whoever starts the long one, as all do that start what is there."""
    release = worst_release(memory)
    assert loss("svf", long_then_shorts(memory, release), memory) == pytest.approx(known, abs=0.006)
    assert adversary.ratio_of("svf", memory, release) == pytest.approx(known, abs=0.006)
