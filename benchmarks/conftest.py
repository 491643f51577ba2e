"""Paired timing: a claim is a ratio of two medians, taken in turn within one run."""

import time
from statistics import median

import numpy as np
import pytest

from engine import Scenario, generate


@pytest.fixture(scope="session")
def mix():
    """The default 80/20 mix as a backlog of n requests, drawn once a session."""
    drawn = {}

    def of(n):
        if n not in drawn:
            drawn[n] = generate(Scenario(n=n))
        return drawn[n]

    return of


@pytest.fixture
def paired(benchmark):
    """Time `ours` in turn with `reference`; records and returns the ratio of the medians."""

    def measure(ours, reference, rounds=7):
        ours(), reference()  # compile and warm
        mine, theirs = [], []
        for _ in range(rounds):
            for work, times in ((ours, mine), (reference, theirs)):
                begin = time.perf_counter()
                work()
                times.append(time.perf_counter() - begin)
        ratio = median(mine) / median(theirs)
        benchmark.extra_info["ratio"] = ratio
        benchmark.extra_info["reference_ms"] = 1000 * median(theirs)
        benchmark.pedantic(ours, rounds=3)
        print(f"\n{benchmark.name}: {1000 * median(mine):.3g} ms, {ratio:.3g} x the reference")
        return ratio

    return measure


@pytest.fixture(scope="session")
def argsort():
    """The yardstick of docs/results.md 7: sorting a million floats."""
    values = np.random.default_rng(0).random(1_000_000)
    return lambda: np.argsort(values)
