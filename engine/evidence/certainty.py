"""How certain a bound is, in the words of somebody who plans capacity and proves nothing."""

from __future__ import annotations

from collections.abc import Sequence

from engine.bound import Bound
from engine.bound_method import BoundWords, find_method

EVERY_RUN = "every schedule, also one that preempts or restarts requests"
KEPT_RUNS = "every schedule that lets a started request keep its KV cache (no preemption)"

PROOF_BY_PRICES = (
    "Put a price on a token of memory in each round. No schedule can then cost less than what "
    "every request would pay at its own cheapest moment, less the worth of all the memory there "
    "is. That holds at any prices, however they were found, and is summed up in exact arithmetic."
)


def certainty(bound: Bound) -> BoundWords:
    """What the method says that found a bound, whichever runs it covers."""
    return find_method(bound.found_by).in_words(bound.clock)


def by_kind(bounds: Sequence[Bound]) -> dict[BoundWords, list[Bound]]:
    """The bounds of each kind, under its words."""
    kinds: dict[BoundWords, list[Bound]] = {}
    for bound in bounds:
        kinds.setdefault(certainty(bound), []).append(bound)
    return kinds


def is_by_prices(bounds: Sequence[Bound]) -> bool:
    """Whether PROOF_BY_PRICES speaks of any of the bounds."""
    return any(bound.prices is not None for bound in bounds)


def holds_for(bound: Bound) -> str:
    """The schedules that a bound speaks of."""
    if bound.covers_preemption:
        return EVERY_RUN
    return KEPT_RUNS if bound.covers_cut_prompts else f"{KEPT_RUNS} and prefills prompts whole"


def strongest(bounds: Sequence[Bound]) -> list[Bound]:
    """The best bound for every run, then the best for those that keep their KV cache, if larger."""
    every = [bound for bound in bounds if bound.certified and bound.covers_preemption]
    kept = [bound for bound in bounds if bound.certified and not bound.covers_preemption]
    best = [max(kind, key=lambda bound: bound.value) for kind in (every, kept) if kind]
    return best if len(best) < 2 or best[0].value < best[1].value else best[:1]
