"""Capacities side by side, in words: who carries most, and what that is worth at a load."""

from __future__ import annotations

from collections.abc import Sequence

from engine import wording
from engine.capacity.no_rate import no_rate
from engine.capacity.objective import Objective
from engine.capacity.offer import Offer, best_first
from engine.capacity.rate import Capacity
from engine.choice import Choice
from engine.fleet import Topology

IN_WORDS = (
    "no", "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
SAME = 1.02  # rates nearer than this are called the same
PRACTICALLY, SAME_BY_CHANCE = "practically the same", "the same within chance"
WIDE = 1.1  # an interval that is wider, from end to end, is told beside its rate


def answer(
    offers: Sequence[Offer],
    load: float,
    unit: str,
    server: str,
    objective: Objective = Objective(),  # noqa: B008  (immutable)
    not_run: Sequence[str] = (),
) -> str:
    """The one sentence of the page.

    Parameters
    ----------
    unit : of the clock
    server : what carries the rates, such as "one A100 80 GB"
    objective : what the rates had to keep to
    not_run : labels of policies that were chosen and have no outcome yet
    """
    best, *others = best_first(offers)
    moment = unit.removesuffix("s")
    if best.capacity.rate is None:
        return no_rate(offers, unit, objective)
    serves = _rate_told(best.capacity, moment)
    first = f"**{best.capacity.label}** serves {serves} on {server}"
    if others and all(_alike(best, other) for other in others):
        left = f" that were run ({wording.listed(not_run)} not yet)" if not_run else ""
        alike = (
            SAME_BY_CHANCE if any(not _is_same(best, other) for other in others) else PRACTICALLY
        )
        taken = _all_take([best, *others], load, moment)
        return f"All policies{left} serve {alike}, {serves} on {server}{taken}."
    rival = _rival(others)
    if rival is None:
        return f"{first}{_alone(best, load, moment)}."
    if rival.capacity.rate is None:
        return f"{first}, **{rival.capacity.label}** keeps within the limits at no rate."
    other = _rate_told(rival.capacity)
    if alike := _alike(best, rival):
        second = f"and **{rival.capacity.label}** {alike} ({rate_in_words(rival.capacity)})"
        return f"{first}, {second}{_compared(best, rival, load, moment)}."
    return f"{first}, **{rival.capacity.label}** {other}{_compared(best, rival, load, moment)}."


def _is_same(best: Offer, other: Offer) -> bool:
    return (best.capacity.rate or 0.0) < SAME * (other.capacity.rate or 0.0)


def _alike(best: Offer, other: Offer) -> str:
    """How two rates are the same; empty where they are not.

    The draws are the same for both, so their difference has an interval of its own. Chance
    explains it where that holds 0 and each rate is in the other's interval, too.
    """
    if _is_same(best, other):
        return PRACTICALLY
    upper, lower = best.capacity.interval, other.capacity.interval
    if upper is None or lower is None or best.capacity.rate is None or other.capacity.rate is None:
        return ""
    inside = upper[0] <= other.capacity.rate and best.capacity.rate <= lower[1]
    return SAME_BY_CHANCE if inside and best.capacity.may_equal(other.capacity) else ""


def _rate_told(capacity: Capacity, moment: str = "") -> str:
    """7.66 a second (95 % interval 5.33 to 10.0): the interval where it is wide."""
    sentence = rate_in_words(capacity) + (f" a {moment}" if moment else "")
    if capacity.interval is None or capacity.interval[1] < WIDE * capacity.interval[0]:
        return sentence
    return f"{sentence} (95{wording.THIN}% interval {interval_in_words(capacity)})"


def interval_in_words(capacity: Capacity) -> str:
    """5.33 to 10.0; a dash where there is none."""
    if capacity.interval is None:
        return "–"
    return " to ".join(map(wording.number, capacity.interval))


def rate_in_words(capacity: Capacity) -> str:
    """14.2, or `at least 14.2` where no border was found."""
    sentence = wording.number(capacity.rate)
    return f"at least {sentence}" if capacity.is_least else sentence


def _rival(others: Sequence[Offer]) -> Offer | None:
    return others[rival_of([offer.capacity.choice for offer in others])] if others else None


def rival_of(others: Sequence[Choice]) -> int:
    """Whom to compare the best with: `vllm`, what people run, else `fcfs`, else the last."""
    keys = [choice.key for choice in others]
    usual = [keys.index(key) for key in ("vllm", "fcfs") if key in keys]
    return [*usual, len(keys) - 1][0]


def servers_of(topology: Topology, title: str = "") -> str:
    """What carries the rates: `one server (A100 80 GB)`; `three servers, 1 to prefill, ..`."""
    named = f" ({title})" if title else ""
    if topology.servers == 1:
        return f"one server{named}"
    if topology.pools is None:
        return f"{topology}{named}"
    prefill, decode = topology.pools
    split = f"{prefill} to prefill and {decode} to decode"
    return f"{servers_in_words(topology.servers)}, {split}{named}"


def pools_in_words(pools: tuple[int, int] | None) -> str:
    """` (2 that prefill, 5 that decode)`; nothing where all servers do everything."""
    return "" if pools is None else f" ({pools[0]} that prefill, {pools[1]} that decode)"


def servers_in_words(count: int) -> str:
    sentence = IN_WORDS[count] if count < len(IN_WORDS) else wording.count(count)
    return f"{sentence} server" if count == 1 else f"{sentence} servers"


def _alone(best: Offer, load: float, moment: str) -> str:
    if best.count is None:
        return ""
    return f": for {wording.number(load)} a {moment} it takes {_fleet_in_words(best)}"


def _all_take(offers: Sequence[Offer], load: float, moment: str) -> str:
    """As `_alone`, of policies that carry the same and yet may differ by a server."""
    counts = [offer.count for offer in offers if offer.count is not None]
    if len(set(counts)) < 2:
        return _alone(offers[0], load, moment)
    fewest, most = servers_in_words(min(counts)), servers_in_words(max(counts))
    return f": for {wording.number(load)} a {moment} it takes {fewest.split()[0]} to {most}"


def _fleet_in_words(offer: Offer) -> str:
    return f"{servers_in_words(offer.count or 0)}{pools_in_words(offer.pools)}"


def _compared(best: Offer, rival: Offer, load: float, moment: str) -> str:
    if best.count is None or rival.count is None:
        return _alone(best, load, moment)
    begin = f": for {wording.number(load)} a {moment} "
    if best.count == rival.count:
        alike = best.pools == rival.pools
        taken = _fleet_in_words(best) if alike else servers_in_words(best.count)
        return f"{begin}both take {taken}"
    ours, theirs = _fleet_in_words(best), servers_in_words(rival.count)
    if best.count < rival.count:
        return f"{begin}{ours} instead of {theirs.split()[0]}"
    return f"{begin}{ours}, with {rival.capacity.label} {theirs.split()[0]}"


def caveats(choices: Sequence[Choice], not_run: Sequence[str] = ()) -> list[str]:
    """Sentences on what policies, the best first, know that a server may not."""
    sentence = []
    if choices[0].policy.uses_lengths:
        sentence.append(f"{choices[0].label} uses output lengths, in its order or its look-ahead.")
    offline = [choice.label for choice in choices if choice.policy.offline]
    if offline:
        ranks = "ranks" if len(offline) == 1 else "rank"
        sentence.append(f"{', '.join(offline)} {ranks} also requests that have not arrived.")
    if not_run:
        sentence.append(f"Not run: {wording.listed(not_run)}.")
    return sentence
