"""Where no rate is carried, in words: what is missed at the least one tried, and by how much."""

from __future__ import annotations

from collections.abc import Sequence

from engine import wording
from engine.capacity.binding import LIMITED
from engine.capacity.objective import Miss, Objective
from engine.capacity.offer import Offer
from engine.capacity.shortfall import Shortfall

BINDS = 0.9  # share of M in use: above, more memory may help


def no_rate(offers: Sequence[Offer], unit: str, objective: Objective) -> str:
    """The sentence of the page where no policy carries a rate; the nearest one's values."""
    least = min(b.fails for offer in offers for b in offer.capacity.borders)
    at = f"{wording.number(least)} a {unit.removesuffix('s')}, the least that was tried"
    known = {
        offer.capacity.label: offer.capacity.shortfall
        for offer in offers
        if offer.capacity.shortfall is not None
    }
    names = wording.listed([f"**{offer.capacity.label}**" for offer in offers])
    miss = "misses" if len(offers) == 1 else "miss"
    if not known:
        return f"There is no rate to give: {names} {miss} what is asked even at {at}."
    nearest, short = min(known.items(), key=lambda item: _excess(item[1]))
    if not short.misses:
        are = "is" if len(offers) == 1 else "are"
        what = f"{are} overloaded" if short.overloaded else f"{miss} what is asked"
        return f"There is no rate to give: {names} {what} even at {at}. {advice(short, unit)}"
    missed = missed_in_words(short.misses[0], objective.percent, unit)
    which = "" if len(offers) == 1 else f" **{nearest}**, the nearest, has"
    return (
        f"There is no rate to give: {names} {miss} the limits even at {at}:{which} {missed}. "
        f"{advice(short, unit)}"
    )


def _excess(short: Shortfall) -> float:
    return max((miss.excess for miss in short.misses), default=float("inf"))


def missed_in_words(miss: Miss, percent: float, unit: str) -> str:
    """P99 time to first token of 3.2 seconds, where 1 second is allowed."""
    of = f" of {miss.of_class}" if miss.of_class else ""
    return (
        f"a P{percent:g} {LIMITED[miss.name]}{of} of {wording.amount(miss.reached, unit)}, with "
        f"{wording.amount(miss.limit, unit)} allowed"
    )


def advice(short: Shortfall, unit: str) -> str:
    """What would help: memory only where it is full."""
    if short.memory >= BINDS:
        return "Loosen the limits or give more memory." if short.misses else "Give more memory."
    used = f"At most {wording.percent(short.memory)} of M is in use then, so memory is not why"
    if not short.misses:
        return f"{used}: take a faster server."
    faster = "" if unit == "rounds" else " or take a faster server"
    return f"{used}: loosen that limit{faster}."
