"""Numbers of clients side by side: in a sentence, as records, and with what goes with them."""

from __future__ import annotations

from collections.abc import Sequence

from engine import wording
from engine.capacity.answer import WIDE, caveats, rival_of
from engine.capacity.clients import Clients
from engine.capacity.no_rate import advice, missed_in_words
from engine.capacity.objective import Objective
from engine.capacity.records import binding_row
from engine.capacity.remarks import ONE_DRAW
from engine.fleet import Deployment
from engine.measure.set_aside import SetAside, who_is_set_aside
from engine.workload import Workload

FEW = 3  # policies, named one by one


def most_first(served: Sequence[Clients]) -> list[Clients]:
    """By how many are served, then by how fast."""
    return sorted(served, key=lambda clients: (-clients.number, -clients.rate))


def number_in_words(clients: Clients) -> str:
    """`34`, or `at least 10,000` where more may be served."""
    counted = wording.count(clients.number)
    return f"at least {counted}" if clients.is_least else counted


def binds_in_words(clients: Clients, percent: float) -> str:
    """The limit that ends their number; a dash where none was met."""
    return "–" if clients.binding is None else clients.binding.in_words(percent)


def interval_in_words(clients: Clients) -> str:
    """33 to 36; a dash where there is none."""
    if clients.interval is None:
        return "–"
    return " to ".join(map(wording.count, clients.interval))


def answer(served: Sequence[Clients], unit: str, server: str, objective: Objective) -> str:
    """Who serves most within the limits, and who serves as many as was asked about."""
    best, *others = most_first(served)
    names = wording.listed([f"**{clients.label}**" for clients in most_first(served)])
    if not best.number:
        miss = "misses" if len(served) == 1 else "miss"
        return f"{names} {miss} the limits even with one client{_why(best, unit, objective)}"
    wide = best.interval is not None and best.interval[1] > WIDE * best.interval[0]
    interval = f" (95{wording.THIN}% interval {interval_in_words(best)})" if wide else ""
    most = f"{number_in_words(best)} client{'' if best.number == 1 else 's'}"
    first = f"**{best.label}** serves {most}{interval} within the limits on {server}"
    if others:
        rival = others[rival_of([clients.choice for clients in others])]
        first += f", **{rival.label}** {wording.count(rival.number)}"
    return f"{first}. {_asked(served)}"


def _why(best: Clients, unit: str, objective: Objective) -> str:
    """What is missed with one client, by the first named."""
    if best.short is None or not best.short.misses:
        return "."
    missed = missed_in_words(best.short.misses[0], objective.percent, unit)
    return f": {best.label} has {missed}. {advice(best.short, unit)}"


def _asked(served: Sequence[Clients]) -> str:
    """Who serves the number that was asked about."""
    asked = wording.counted(served[0].asked, "client")
    able = [clients.label for clients in most_first(served) if clients.carries_asked]
    if not able:
        return f"{asked} {_be(served)} not."
    if len(able) == len(served):
        who = "" if len(served) == 1 else " by every policy"
    else:
        few = len(able) <= FEW
        who = (
            f" by {wording.listed(able) if few else f'{len(able)} of {len(served)} policies'} only"
        )
    return f"{asked} {_be(served)} served within them{who}."


def _be(served: Sequence[Clients]) -> str:
    return "is" if served[0].asked == 1 else "are"


def remarks(
    served: Sequence[Clients],
    requests: Workload,
    deployment: Deployment,
    objective: Objective,
    not_run: Sequence[str] = (),
) -> list[str]:
    """What binds the best, who is set aside, and what chance decides.

    Parameters
    ----------
    requests : as they are drawn with the first seed
    not_run : labels of policies that were chosen and have no outcome yet
    """
    ordered = most_first(served)
    aside = {
        clients.label: SetAside.of(requests, deployment.usable(clients.choice))
        for clients in ordered
    }
    sentences = deployment.engine.remarks + who_is_set_aside(aside, len(requests))
    best = ordered[0]
    if best.number and best.binding is not None:
        what = best.binding.in_words(objective.percent)
        sentences.append(f"What binds {best.label} is {what}.")
    near = [clients.label for clients in ordered if clients.is_near]
    if near:
        asked = wording.counted(best.asked, "client")
        sentences.append(f"Whether {wording.listed(near)} serves {asked}, chance decides.")
    if best.number and len(best.seeds) == 1:
        sentences.append(ONE_DRAW.format(what="number"))
    return [*sentences, *caveats([clients.choice for clients in ordered], not_run)]


def rows(served: Sequence[Clients], requests: Workload, deployment: Deployment) -> list[dict]:
    """One record a policy, most clients first; `rate` is what they are served together."""
    return [_row(clients, requests, deployment) for clients in most_first(served)]


def _row(clients: Clients, requests: Workload, deployment: Deployment) -> dict:
    low, high = clients.interval or (None, None)
    choice, binding = clients.choice, clients.binding
    aside = SetAside.of(requests, deployment.usable(choice)).total
    seeds = zip(clients.seeds, clients.borders, strict=True)
    return {
        "policy": choice.key,
        "params": choice.values,
        "clients": clients.number,
        "at_least": clients.is_least,
        "low": low,
        "high": high,
        "verdict": "carried" if clients.carries_asked else "not carried",
        "near": clients.is_near,
        "binding": binding_row(binding),
        "rate": clients.rate,
        "set_aside": aside,
        "set_aside_share": aside / len(requests),
        "seeds": [{"seed": s, "carries": b.carries, "fails": b.fails} for s, b in seeds],
    }
