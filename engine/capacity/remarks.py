"""What goes with the answer: what binds, who is not served, what a burst or a server less does."""

from __future__ import annotations

from collections.abc import Sequence

from engine import wording
from engine.capacity.objective import Objective
from engine.capacity.offer import Offer, best_first
from engine.capacity.records import fitting
from engine.fleet import Deployment
from engine.workload import Workload


def remarks(
    offers: Sequence[Offer],
    requests: Workload,
    deployment: Deployment,
    objective: Objective,
) -> list[str]:
    """A sentence each on the best policy, and on all who lose requests or cannot stand a burst."""
    ordered = best_first(offers)
    sentences = list(_set_aside(ordered, requests, deployment))
    best = ordered[0]
    if best.capacity.binding is not None and best.capacity.rate is not None:
        what = best.capacity.binding.in_words(objective.percent)
        sentences.append(f"What binds {best.capacity.label} is {what}.")
    for offer in ordered:
        if offer.capacity.until_burst is not None:
            more = wording.number(offer.capacity.until_burst)
            sentences.append(
                f"{offer.capacity.label} keeps up with {more} while no queue has built up, and is "
                "stable until a burst only; the rate told is what it recovers at."
            )
        if offer.capacity.served < 1:
            sentences.append(
                f"{offer.capacity.label} serves {wording.percent(offer.capacity.served)} of the "
                "requests at its rate; the others give up or are turned away."
            )
    if best.servers is not None and best.servers.one_fewer:
        sentences.append(f"With one server fewer {best.capacity.label} {best.servers.one_fewer}.")
    return sentences


def _set_aside(offers: Sequence[Offer], requests: Workload, deployment: Deployment):
    """One sentence, or one for each policy where they differ."""
    aside = {
        offer.capacity.label: int((~fitting(offer.capacity.choice, requests, deployment)).sum())
        for offer in offers
    }
    if not any(aside.values()):
        return
    of = wording.count(len(requests))
    end = "need more than M or are too long, and are set aside: rates count them, tokens do not"
    of_one = "needs more than M or is too long, and is set aside: rates count it, tokens do not"
    if len(set(aside.values())) == 1:
        count = next(iter(aside.values()))
        share = wording.percent(count / len(requests))
        yield f"{wording.count(count)} of {of} requests ({share}) {of_one if count == 1 else end}."
        return
    counts = ", ".join(f"{wording.count(count)} under {label}" for label, count in aside.items())
    yield f"Of {of} requests, {counts} {end}."
