"""What goes with the answer: what binds, who is not served, what a burst or a server less does."""

from __future__ import annotations

from collections.abc import Sequence

from engine import wording
from engine.capacity.answer import caveats
from engine.capacity.cost import Price
from engine.capacity.objective import Objective
from engine.capacity.offer import Offer, best_first
from engine.fleet import Deployment
from engine.measure.set_aside import SetAside, who_is_set_aside
from engine.workload import Workload

COUNTED = "counted in rates, not in tokens"
ONE_DRAW = "One draw of requests: how far chance moves the {what} cannot be told."


def remarks(
    offers: Sequence[Offer],
    requests: Workload,
    deployment: Deployment,
    objective: Objective,
    price: Price = Price(),  # noqa: B008  (immutable)
    not_run: Sequence[str] = (),
) -> list[str]:
    """A sentence each on the best policy, and on all who lose requests or cannot stand a burst.

    Parameters
    ----------
    requests : as they are drawn at present
    price : of a server
    not_run : labels of policies that were chosen and have no outcome yet
    """
    ordered = best_first(offers)
    aside = {offer.capacity.label: _aside(offer, requests, deployment) for offer in ordered}
    sentences = deployment.engine.remarks
    sentences += who_is_set_aside(aside, len(requests), COUNTED)
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
    if best.capacity.rate is not None and len(best.capacity.seeds) == 1:
        sentences.append(ONE_DRAW.format(what="rate"))
    if price.is_assumed and any(offer.count is not None for offer in ordered):
        gpu_hour = wording.number(price.gpu_hour)
        sentences.append(f"A GPU-hour is taken to cost {gpu_hour} USD, as its price is not known.")
    return [*sentences, *caveats([offer.capacity.choice for offer in ordered], not_run)]


def _aside(offer: Offer, requests: Workload, deployment: Deployment) -> SetAside:
    choice = offer.capacity.choice
    return SetAside.of(requests, deployment.usable(choice))
