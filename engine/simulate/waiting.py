"""The arrived requests that wait, kept in policy order.

A set of ranks 0..n-1 as a tree of 32-bit words: bit b of a word says that
something waits in the b-th part below it. Adding, removing and finding the
next waiting rank touch one word a level, four levels for a million requests,
where a sorted list would have to be shifted.
"""

from __future__ import annotations

import math

import numpy as np

from engine.compiled import kernel, part

WORD = 32
SHIFT = 5


@kernel
def empty_waiting(n):
    """(levels, words) int64: no rank waits. Level 0 holds the ranks themselves."""
    levels = 1
    span = WORD
    while span < n:
        span *= WORD
        levels += 1
    return np.zeros((levels, (n + WORD - 1) // WORD), np.int64)


@part
def fill_waiting(waiting, n):
    """Let every rank from 0 to n - 1 wait."""
    for level in range(waiting.shape[0]):
        full = n // WORD
        waiting[level, :full] = (1 << WORD) - 1
        if n % WORD:
            waiting[level, full] = (1 << (n % WORD)) - 1
        n = (n + WORD - 1) // WORD


@part
def add_waiting(waiting, rank):
    for level in range(waiting.shape[0]):
        waiting[level, rank >> SHIFT] |= 1 << (rank & (WORD - 1))
        rank >>= SHIFT


@part
def remove_waiting(waiting, rank):
    for level in range(waiting.shape[0]):
        word = rank >> SHIFT
        waiting[level, word] &= ~(1 << (rank & (WORD - 1)))
        if waiting[level, word] != 0:
            return
        rank = word


@part
def _lowest_bit(word):
    return math.frexp(float(word & -word))[1] - 1


@part
def next_waiting(waiting, rank):
    """The smallest waiting rank >= `rank`, or -1."""
    levels, words = waiting.shape
    for level in range(levels):
        word = rank >> SHIFT
        if word >= words:
            return -1
        rest = waiting[level, word] >> (rank & (WORD - 1)) << (rank & (WORD - 1))
        if rest & 1 << (rank & (WORD - 1)) and level == 0:
            return rank  # the usual case, and twice as fast
        if rest != 0:
            rank = word * WORD + _lowest_bit(rest)
            for below in range(level - 1, -1, -1):
                rank = rank * WORD + _lowest_bit(waiting[below, rank])
            return rank
        rank = word + 1  # nothing more in this word: ask the level above for the next one
    return -1
