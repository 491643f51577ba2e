"""Capacities side by side, in words: who carries most, and what that is worth at a load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine import wording
from engine.capacity.cost import Price
from engine.capacity.rate import Capacity
from engine.capacity.servers import Servers
from engine.clock import Clock

IN_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()
SAME = 1.02  # rates nearer than this are called the same


@dataclass(frozen=True)
class Offer:
    """What one policy carries, and what a load takes with it.

    Attributes
    ----------
    capacity : of the servers in the sidebar
    servers : for the load; None where that was not asked
    """

    capacity: Capacity
    servers: Servers | None = None

    @property
    def count(self) -> int | None:
        return self.servers.count if self.servers is not None else None


def best_first(offers: Sequence[Offer]) -> list[Offer]:
    """By descending rate, those without one at the end."""
    return sorted(offers, key=lambda offer: -(offer.capacity.rate or 0.0))


def answer(offers: Sequence[Offer], load: float, unit: str, server: str) -> str:
    """The one sentence of the page.

    Parameters
    ----------
    unit : of the clock
    server : what carries the rates, such as "one A100 80 GB"
    """
    best, *others = best_first(offers)
    each = unit.removesuffix("s")
    if best.capacity.rate is None:
        return (
            "Overload: no rate that was tried is carried within the limits by "
            f"{_names(offers)}, so there is no largest rate. Loosen the limits or give more memory."
        )
    first = f"**{best.capacity.label}** serves {rate_in_words(best.capacity)} a {each} on {server}"
    rival = _rival(others)
    if rival is None:
        return f"{first}{_alone(best, load, each)}."
    if rival.capacity.rate is None:
        return f"{first}, **{rival.capacity.label}** keeps within the limits at no rate."
    other = rate_in_words(rival.capacity)
    if best.capacity.rate < SAME * rival.capacity.rate:
        second = f"and **{rival.capacity.label}** practically the same ({other})"
        return f"{first}, {second}{_compared(best, rival, load, each)}."
    return f"{first}, **{rival.capacity.label}** {other}{_compared(best, rival, load, each)}."


def rate_in_words(capacity: Capacity) -> str:
    """14.2, or `at least 14.2` where no border was found."""
    told = wording.number(capacity.rate)
    return f"at least {told}" if capacity.is_least else told


def _names(offers: Sequence[Offer]) -> str:
    return ", ".join(f"**{offer.capacity.label}**" for offer in offers)


def _rival(others: Sequence[Offer]) -> Offer | None:
    """Whom to compare with: `vllm`, what people run, else `fcfs`, else the last."""
    by_key = {offer.capacity.policy: offer for offer in reversed(others)}
    return by_key.get("vllm") or by_key.get("fcfs") or (others[-1] if others else None)


def servers_in_words(count: int) -> str:
    told = IN_WORDS[count] if count < len(IN_WORDS) else wording.count(count)
    return f"{told} server" if count == 1 else f"{told} servers"


def _alone(best: Offer, load: float, each: str) -> str:
    if best.count is None:
        return ""
    return f": for {wording.number(load)} a {each} it takes {servers_in_words(best.count)}"


def _compared(best: Offer, rival: Offer, load: float, each: str) -> str:
    if best.count is None or rival.count is None:
        return _alone(best, load, each)
    begin = f": for {wording.number(load)} a {each} "
    if best.count == rival.count:
        return f"{begin}both take {servers_in_words(best.count)}"
    return f"{begin}{servers_in_words(best.count)} instead of {_bare(rival.count)}"


def _bare(count: int) -> str:
    return servers_in_words(count).split()[0]


def rows(
    offers: Sequence[Offer], load: float, mean_output: float, clock: Clock, price: Price
) -> list[dict]:
    """One record an offer: policy, rate, low, high, servers, their cost and each seed's border.

    `cost_per_hour` and `cost_per_million_tokens` are those of the servers at the load; None
    where there is no number of servers, the latter also in rounds.
    """
    return [_row(offer, load, mean_output, clock, price) for offer in best_first(offers)]


def _row(offer: Offer, load: float, mean_output: float, clock: Clock, price: Price) -> dict:
    found, count = offer.capacity, offer.count
    low, high = found.interval or (None, None)
    seeds = zip(found.seeds, found.borders, strict=True)
    return {
        "policy": found.policy,
        "params": dict(found.params),
        "rate": found.rate,
        "at_least": found.is_least,
        "low": low,
        "high": high,
        "servers": count,
        "cost_per_hour": None if count is None else price.an_hour(count),
        "cost_per_million_tokens": (
            None if count is None else price.a_million_tokens(count, load, mean_output, clock)
        ),
        "seeds": [{"seed": s, "carries": b.carries, "fails": b.fails} for s, b in seeds],
    }
