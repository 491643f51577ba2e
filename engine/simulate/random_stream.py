"""Random numbers that are the same on every machine and in every version of numba."""

from __future__ import annotations

import numpy as np

from engine.compiled import kernel

SPREAD = np.uint64(0x9E3779B97F4A7C15)


@kernel
def seeded(*numbers):
    """A generator, one uint64 of state, from whole numbers >= 0."""
    state = np.ones(1, np.uint64)
    for number in numbers:
        state[0] = (state[0] ^ np.uint64(number)) * SPREAD + np.uint64(1)
        uniform(state)
    return state


@kernel
def uniform(state):
    """The next number in [0, 1): xorshift64* (Vigna, ACM TOMS 42, 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) * 2.0**-53


@kernel
def below(state, n):
    """The next whole number from 0 to n - 1."""
    return int(uniform(state) * n)
