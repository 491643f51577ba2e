"""The largest rate of each policy and the servers a load takes, on the Capacity page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import wording
from engine.capacity import rate, servers
from engine.capacity.answer import (
    Offer,
    answer,
    best_first,
    caveats,
    interval_in_words,
    rate_in_words,
    rows,
)
from engine.capacity.rate import Capacity, largest_rate
from engine.capacity.servers import Servers, fewest_servers, first_guess
from engine.figures.capacity import describe_rates, draw_rates
from pages.parts import show
from pages.parts.capacity.controls import Question, each
from pages.parts.jobs import Job
from pages.parts.view import Choice, View

DEAR = 1.0  # seconds: a policy whose one run takes longer is not bisected


def key_of(view: View, question: Question) -> tuple:
    """What every result of this page depends on."""
    return (*view.place, view.scenario, question.objective, question.draws.seeds)


def is_affordable(view: View, choice: Choice) -> bool:
    """Whether a policy can be run many times over, each time with the same outcome."""
    cost = view.topology.cost(choice.policy, len(view.workload))
    return cost <= DEAR and not choice.policy.timed


def rate_jobs(view: View, question: Question) -> list[Job]:
    """One bisection a chosen policy."""
    return [_rate_job(view, question, choice) for choice in view.choices]


def _rate_job(view: View, question: Question, choice: Choice) -> Job:
    given = (choice.policy, dict(choice.params), question.draws, view.memory)
    takes = rate.seconds(choice.policy, question.draws, view.topology)
    return Job(
        key=(*key_of(view, question), "capacity", choice),
        title=f"the capacity of {choice.key}",
        seconds=takes if is_affordable(view, choice) else math.inf,
        compute=lambda progress: largest_rate(
            *given, question.objective, view.clock, view.topology, progress, question.on
        ),
    )


def servers_jobs(view: View, question: Question, found: Sequence[Capacity]) -> list[Job]:
    """One search for the number of servers a policy that carries a rate."""
    return [_servers_job(view, question, capacity) for capacity in found if capacity.rate]


def _servers_job(view: View, question: Question, capacity: Capacity) -> Job:
    choice = Choice(capacity.policy, capacity.params)
    given = (choice.policy, dict(choice.params), question.draws, view.memory, question.load)
    count = first_guess(question.load, capacity, view.topology)
    return Job(
        key=(*key_of(view, question), "servers", choice, question.load),
        title=f"servers under {choice.key}",
        seconds=servers.seconds(choice.policy, question.draws, count, view.topology),
        compute=lambda progress: fewest_servers(
            *given, capacity, question.objective, view.clock, view.topology, progress
        ),
    )


def offers_of(found: Sequence[Capacity], counted: Sequence[Servers]) -> list[Offer]:
    """Each capacity with its servers, best first."""
    by_label = {servers.label: servers for servers in counted}
    return best_first([Offer(capacity, by_label.get(capacity.label)) for capacity in found])


def headline(view: View, question: Question, offers: Sequence[Offer]) -> str:
    return answer(
        offers,
        question.load,
        view.clock.unit,
        question.server,
        question.objective,
        not_run(view, offers),
    )


def not_run(view: View, offers: Sequence[Offer]) -> list[str]:
    """The chosen policies without an outcome, in the order of the choice."""
    there = {offer.capacity.label for offer in offers}
    labels = [choice.policy.label(dict(choice.params)) for choice in view.choices]
    return [label for label in labels if label not in there]


def tell_rates(view: View, question: Question, offers: Sequence[Offer]) -> None:
    """What counts, the chart and the table."""
    st.caption(" ".join([_what_counts(question), *caveats(offers, not_run(view, offers))]))
    found = [offer.capacity for offer in offers]
    if found[0].rate is not None:
        _chart(view, question, found)
    _table(view, question, offers)


def _chart(view: View, question: Question, found: Sequence[Capacity]) -> None:
    show.figure(
        draw_rates(found, question.draws.rate, view.clock.unit),
        describe_rates(found, view.clock.unit),
        "capacity-rates",
    )
    if len(question.draws.seeds) == 1:
        st.caption("One draw of requests: how far chance moves the rate cannot be told.")
    else:
        st.caption("Diamonds: mean over the seeds with its 95\u202f% interval. Dots: single seeds.")


def _what_counts(question: Question) -> str:
    told = "Carried means: the server keeps up, its backlog does not grow"
    if not question.objective.has_limits:
        return (
            f"{told}. Without limits on latency (SLO) that is all that is asked: set one to see "
            "what users would feel."
        )
    percent = f"{question.objective.percent:g}\u202f%"
    return f"{told}, and {percent} of the requests stay within each limit."


def _table(view: View, question: Question, offers: Sequence[Offer]) -> None:
    mean_output = float(question.draws.present.output.mean())
    records = rows(offers, question.load, mean_output, view.clock, question.price)
    load = wording.number(question.load)
    table = pd.DataFrame(
        {
            "Policy": [offer.capacity.label for offer in offers],
            f"Largest rate (a {each(view)})": [_rate(offer) for offer in offers],
            "95\u202f% interval": [interval_in_words(offer.capacity) for offer in offers],
            f"Servers for {load}": [_count(offer) for offer in offers],
            "USD an hour": [wording.number(record["cost_per_hour"]) for record in records],
            "USD a million tokens": [
                wording.number(record["cost_per_million_tokens"]) for record in records
            ],
        }
    )
    if view.clock.is_rounds:
        table = table.drop(columns="USD a million tokens")
    show.rows(table, "Largest rate, and servers for the load, by policy")
    if any(offer.capacity.rate is not None and offer.servers is None for offer in offers):
        st.caption("Servers that are not counted yet have a dash.")


def _rate(offer: Offer) -> str:
    return "none" if offer.capacity.rate is None else rate_in_words(offer.capacity)


def _count(offer: Offer) -> str:
    if offer.count is None:
        return "–"
    pools = offer.servers.pools
    split = "" if pools is None else f" ({pools[0]}:{pools[1]})"
    return f"{wording.count(offer.count)}{split}"
