"""How certain a bound is, in the words of somebody who plans capacity and proves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.bound import Bound

EVERY_RUN = "every schedule, also one that preempts or restarts requests"
KEPT_RUNS = "every schedule that lets a started request keep its KV cache (no preemption)"


PROOF_BY_PRICES = (
    "Put a price on a token of memory in each round. No schedule can then cost less than what "
    "every request would pay at its own cheapest moment, less the worth of all the memory there "
    "is. That holds at any prices, however they were found, and is summed up in exact arithmetic."
)


@dataclass(frozen=True)
class Certainty:
    """What a kind of bound is, and what of it has to be believed: a sentence or two each.

    `by_prices` says that the proof is PROOF_BY_PRICES.
    """

    what: str
    why: str
    by_prices: bool = True


WORDS = {
    "fluid": Certainty(
        "Pours the requests through memory like water, the smallest first, and reads off what a "
        "token of memory is worth in each round.",
        "The water only suggests the prices; nothing about it has to be believed.",
    ),
    "prices": Certainty(
        "Starts from the fluid's prices and improves them step by step, as long as the bound "
        "rises.",
        "The search only suggests the prices: stopped early, it has proved a little less, never "
        "something wrong.",
    ),
    "lp": Certainty(
        "Lets a request start in fractions at several times. That is easier than the real task, "
        "so no schedule is better than the best such plan.",
        "The solver only suggests the prices; its own result is not believed.",
    ),
    "srpt": Certainty(
        "Counts the seconds of work that each request costs the GPU at least, and serves that "
        "work on one machine that may change its mind at any time: shortest remaining first is "
        "then the best there is.",
        "The work is a sum of floors under the length of every round; that it never exceeds the "
        "real time is proved in the code (engine/proof/work), with all rounding allowed for.",
        by_prices=False,
    ),
    "prices in seconds": Certainty(
        "Puts prices on seconds of the GPU's time that never rise, and charges every request for "
        "the work it cannot avoid, at its own cheapest moment.",
        "The search only suggests the prices; the charge is summed with all rounding allowed for.",
        by_prices=False,
    ),
    "hindsight": Certainty(
        "Solves the real task itself, for somebody who knows every request in advance: when to "
        "start each, once and for all.",
        "The solver HiGHS has ruled out every better schedule. This has to be believed, as there "
        "is no short proof to check. Stopped early, only what was ruled out by then counts.",
        by_prices=False,
    ),
}


def certainty(bound: Bound) -> Certainty:
    """The words for a bound, whichever runs it covers."""
    kind = bound.bound.removesuffix("-preemptive")
    return WORDS.get(f"{kind} in {bound.unit}") or WORDS[kind]


def by_kind(bounds: Sequence[Bound]) -> dict[Certainty, list[Bound]]:
    """The bounds of each kind, under its words."""
    kinds: dict[Certainty, list[Bound]] = {}
    for bound in bounds:
        kinds.setdefault(certainty(bound), []).append(bound)
    return kinds


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
