"""The blocks of KV cache of an engine: who holds how many, and in which round they end.

A request that decodes takes a block in every `block`-th of its rounds. So it is enough to count,
by the remainder of a round's number, how many take one then: the blocks that any number of rounds
takes follow without looking at a request.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import part
from engine.simulate.server import tokens
from engine.simulate.timetable import NEVER

PAUSED = -1  # in place of the tokens left to prefill: decodes, but has missed a round


class Steps(NamedTuple):
    """What an engine imposes.

    Attributes
    ----------
    block : tokens in a block of KV cache
    total : how many blocks there are
    kept : blocks that admission leaves free while something runs
    max_num_seqs : how many requests may run at once
    max_tokens : how many tokens a round may prefill and decode
    cut : whether prompts are cut to fit a round's tokens
    whole_input : whether all tokens of a request must fit when it is admitted, or its first chunk
    reserved : output tokens for which blocks are kept from admission on; 0: no reservation
    standing : h, by which a request holds more tokens than it has
    newest : whether the newest of the batch is preempted, and first to return; else the last
        of the order, which returns to its place in it
    in_turn : whether the order is that of arrival
    """

    block: int
    total: int
    kept: int
    max_num_seqs: int
    max_tokens: int
    cut: bool
    whole_input: bool
    reserved: int
    standing: int
    newest: bool
    in_turn: bool


COUNTS = np.dtype(
    [
        ("free", "i8"),  # blocks nobody holds
        ("still", "i8"),  # of the batch, requests that do not decode
        ("promised", "i8"),  # blocks that reservations keep
        ("decoded", "i8"),  # of the present round: requests that decode,
        ("context", "i8"),  # their prompt and generated tokens before,
        ("prefilled", "i8"),  # tokens prefilled
        ("ended", "i8"),  # and prompts whose last chunk they are
    ]
)


class Blocks(NamedTuple):
    """Who holds blocks, and what the present round does.

    Attributes
    ----------
    held : (n,) int64, blocks of each request of the batch that does not decode
    doing : (n,) int64, tokens that each does in the present round
    taken : (n,) int64, blocks it has taken for them
    at_rest : (block,) int64, by the remainder of a round's number: how many of those that decode
        take a block in it
    counts : record of dtype COUNTS
    """

    held: np.ndarray
    doing: np.ndarray
    taken: np.ndarray
    at_rest: np.ndarray
    counts: np.void


@part
def blocks_for(count, steps):
    """What so many tokens take, standing ones included."""
    return (count + steps.standing + steps.block - 1) // steps.block


@part
def promised_to(steps, r):
    """The blocks that are kept for a request: all there are where it may generate more."""
    return min(steps.total, blocks_for(r.prompt + max(steps.reserved, r.output), steps))


@part
def remainder(steps, r):
    """In which rounds a request that decodes takes a block."""
    return (r.since + 1 - r.prompt - steps.standing - r.gen) % steps.block


@part
def blocks_of(server, steps, blocks, i):
    """The blocks of one of the batch."""
    if server.of[i].done == NEVER:
        return blocks.held[i]
    return blocks_for(server.of[i].prompt + tokens(server, i), steps)


@part
def free_completed(server, steps, blocks):
    """Free the blocks of those whom the last round completed."""
    at = server.round_clock.state.round
    if at < server.state.next_done:
        return
    for place in range(server.state.running):
        i = server.batch[place]
        r = server.of[i]
        if r.done == at:
            blocks.counts.free += blocks_of(server, steps, blocks, i)
            blocks.at_rest[remainder(steps, r)] -= 1
            if steps.reserved > 0:
                blocks.counts.promised -= promised_to(steps, r)


@part
def pause(server, steps, blocks, i):
    """A request that decoded does not go on."""
    r = server.of[i]
    blocks.held[i] = blocks_of(server, steps, blocks, i)
    blocks.at_rest[remainder(steps, r)] -= 1
    blocks.counts.still += 1
    r.gen = tokens(server, i)
    r.done = NEVER
    r.left = PAUSED


@part
def rounds_that_fit(blocks, at, rounds):
    """How many of the next `rounds` rounds have the blocks that the batch, decoding, takes."""
    free, size, passed = blocks.counts.free, blocks.at_rest.size, 0
    lap = blocks.at_rest.sum()
    if lap > 0:
        laps = min(free // lap, rounds // size)
        passed = laps * size
        free -= laps * lap
    while passed < rounds:
        free -= blocks.at_rest[(at + passed + 1) % size]
        if free < 0:
            return passed
        passed += 1
    return passed


@part
def take_blocks(blocks, at, rounds):
    """So many rounds have passed since round `at`: the blocks they took are no longer free."""
    size = blocks.at_rest.size
    laps = rounds // size
    blocks.counts.free -= laps * blocks.at_rest.sum()
    for passed in range(laps * size, rounds):
        blocks.counts.free -= blocks.at_rest[(at + passed + 1) % size]
