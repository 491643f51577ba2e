"""A dozen requests to be ordered by hand, under the same look-ahead admission as the policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.policy import POLICIES
from engine.simulate.look_ahead import look_ahead
from engine.simulate.run import Run
from engine.workload import Workload

REQUESTS, MEMORY = 12, 24
MOST_PROMPT, MOST_OUTPUT = 10, 6
RIVALS = ("fcfs", "mc-sf", "shortest-prompt", "shortest-total", "svf", "sorted-f", "vllm")
MOST_SEED = 99_999_999  # a date as a number, 20261130, is one


@dataclass(frozen=True)
class Move:
    """A request put elsewhere in an order.

    Attributes
    ----------
    request, place : which one, and its new place from 0
    saves : rounds of total latency
    """

    request: int
    place: int
    saves: float


@dataclass(frozen=True)
class Puzzle:
    """The requests that a seed draws; all of them wait at round 0."""

    seed: int

    @cached_property
    def workload(self) -> Workload:
        """Prompts 1 .. 10 and outputs 1 .. 6, each as likely as any other."""
        draws = np.random.Generator(np.random.PCG64(self.seed)).random((2, REQUESTS))
        prompt, output = (
            1 + np.floor(draw * most).astype(np.int64)
            for draw, most in zip(draws, (MOST_PROMPT, MOST_OUTPUT), strict=True)
        )
        return Workload(np.zeros(REQUESTS), prompt, output)

    def completed(self, order: Sequence[int]) -> list[int]:
        """`order`, then those that it leaves out, by row."""
        return [*order, *(i for i in range(REQUESTS) if i not in order)]

    def play(self, order: Sequence[int]) -> Run:
        """Start the requests in this order, each as soon as it fits."""
        in_turn = np.array(self.completed(order), np.int64)
        return Run(look_ahead(self.workload, MEMORY, in_turn))

    @cached_property
    def rivals(self) -> dict[str, Run]:
        """What the policies make of it."""
        return {key: POLICIES[key].run(self.workload, MEMORY) for key in RIVALS}

    def best_move(self, order: Sequence[int]) -> Move | None:
        """The one request that is most worth moving, and where to; None if no move saves any."""
        order = self.completed(order)
        before = float(self.play(order).latency.sum())
        best = None
        for request in order:
            others = [i for i in order if i != request]
            for place in range(REQUESTS):
                moved = [*others[:place], request, *others[place:]]
                saves = before - float(self.play(moved).latency.sum())
                if saves > (best.saves if best else 0):
                    best = Move(request, place, saves)
        return best


def read_order(text: str) -> list[int]:
    """The order that a link spells, `3.0.7`; empty where it is none."""
    try:
        order = [int(part) for part in text.split(".")] if text else []
    except ValueError:
        return []
    known = all(0 <= i < REQUESTS for i in order) and len(set(order)) == len(order)
    return order if known else []


def write_order(order: Sequence[int]) -> str:
    """An order as links spell it."""
    return ".".join(map(str, order))
