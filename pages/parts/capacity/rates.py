"""The largest rate of each policy and the servers a load takes, on the Capacity page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import wording
from engine.capacity import rate, servers
from engine.capacity.answer import answer, interval_in_words, rate_in_words
from engine.capacity.offer import Offer, best_first
from engine.capacity.rate import Capacity, largest_rate
from engine.capacity.records import rows
from engine.capacity.remarks import remarks
from engine.capacity.servers import Servers, fewest_servers, first_guess
from engine.choice import Choice
from engine.figures.capacity import describe_rates, draw_rates
from engine.scale_out import where
from pages.parts import show
from pages.parts.capacity.controls import Planning, clock_step
from pages.parts.jobs import Job
from pages.parts.view import View

DEAR = 1.0  # seconds: a policy whose one run takes longer is not bisected


def is_affordable(view: View, choice: Choice) -> bool:
    """Whether a policy can be run many times over, each time with the same outcome."""
    seconds = view.deployment.seconds(choice, len(view.workload))
    return seconds <= DEAR and not choice.policy.timed


def rate_jobs(view: View, planning: Planning) -> list[Job]:
    """One bisection a chosen policy."""
    return [_rate_job(view, planning, choice) for choice in view.choices]


def _rate_job(view: View, planning: Planning, choice: Choice) -> Job:
    question = planning.question
    seconds = rate.seconds(choice, question) if is_affordable(view, choice) else math.inf
    return Job(
        key=("capacity", question, choice),
        title=f"the capacity of {choice.key}",
        seconds=seconds,
        compute=lambda progress: largest_rate(choice, question, where(), progress),
    )


def servers_jobs(planning: Planning, capacities: Sequence[Capacity]) -> list[Job]:
    """One search for the number of servers a policy that carries a rate."""
    return [_servers_job(planning, capacity) for capacity in capacities if capacity.rate]


def _servers_job(planning: Planning, capacity: Capacity) -> Job:
    question, load = planning.question, planning.load
    count = first_guess(capacity, load, question.deployment.topology)
    return Job(
        key=("servers", question, capacity.choice, load),
        title=f"servers under {capacity.choice.key}",
        seconds=servers.seconds(capacity.choice, question, count),
        compute=lambda progress: fewest_servers(capacity, question, load, progress),
    )


def offers_of(capacities: Sequence[Capacity], counted: Sequence[Servers]) -> list[Offer]:
    """Each capacity with its servers, best first."""
    by_label = {servers.label: servers for servers in counted}
    return best_first([Offer(capacity, by_label.get(capacity.label)) for capacity in capacities])


def headline(view: View, planning: Planning, offers: Sequence[Offer]) -> str:
    return answer(
        offers,
        planning.load,
        view.deployment.unit,
        planning.server,
        planning.objective,
        not_run(view, offers),
    )


def not_run(view: View, offers: Sequence[Offer]) -> list[str]:
    """The chosen policies without an outcome, in the order of the choice."""
    there = {offer.capacity.label for offer in offers}
    return [choice.label for choice in view.choices if choice.label not in there]


def tell_rates(view: View, planning: Planning, offers: Sequence[Offer]) -> None:
    """What counts, what binds, the chart and the table."""
    show.remarks(
        remarks(
            offers,
            planning.draws.present,
            view.deployment,
            planning.objective,
            planning.price,
            not_run(view, offers),
        )
    )
    st.caption(_what_counts(planning))
    capacities = [offer.capacity for offer in offers]
    if capacities[0].rate is not None:
        _chart(view, planning, capacities)
    _table(view, planning, offers)


def _chart(view: View, planning: Planning, capacities: Sequence[Capacity]) -> None:
    show.figure(
        draw_rates(capacities, planning.draws.rate, view.deployment.unit),
        describe_rates(capacities, view.deployment.unit),
        "capacity-rates",
    )
    if len(planning.draws.seeds) > 1:
        st.caption("Diamonds: mean over the seeds with its 95\u202f% interval. Dots: single seeds.")


def _what_counts(planning: Planning) -> str:
    asked = (
        "Carried means: the server keeps up for good, and works off the queue that a burst leaves"
    )
    if not planning.objective.has_limits:
        return (
            f"{asked}. Without limits on latency (SLO) that is all that is asked: set one to "
            "see what users would feel."
        )
    percent = f"{planning.objective.percent:g}\u202f%"
    return f"{asked}, and {percent} of the requests stay within each limit."


def _table(view: View, planning: Planning, offers: Sequence[Offer]) -> None:
    records = rows(offers, planning.load, planning.draws.present, view.deployment, planning.price)
    load = wording.number(planning.load)
    costs = {
        "USD a million output tokens": "cost_per_million_tokens",
        "USD a million input tokens": "cost_per_million_input_tokens",
        "USD a million tokens in all": "cost_per_million_total_tokens",
    }
    table = pd.DataFrame(
        {
            "Policy": [offer.capacity.label for offer in offers],
            f"Largest rate (a {clock_step(view)})": [_rate(offer) for offer in offers],
            "95\u202f% interval": [interval_in_words(offer.capacity) for offer in offers],
            "What binds": [_binds(offer, planning) for offer in offers],
            "Set aside": [wording.percent(record["set_aside_share"]) for record in records],
            f"Servers for {load}": [_count(offer) for offer in offers],
            "USD an hour": [wording.number(record["cost_per_hour"]) for record in records],
            **{
                title: [wording.number(record[name]) for record in records]
                for title, name in costs.items()
            },
        }
    )
    if view.deployment.clock.is_rounds:
        table = table.drop(columns=list(costs))
    if not any(record["set_aside"] for record in records):
        table = table.drop(columns="Set aside")
    show.rows(table, "Largest rate, and servers for the load, by policy")
    if any(offer.capacity.rate is not None and offer.servers is None for offer in offers):
        st.caption("Servers that are not counted yet have a dash.")


def _rate(offer: Offer) -> str:
    return "none" if offer.capacity.rate is None else rate_in_words(offer.capacity)


def _binds(offer: Offer, planning: Planning) -> str:
    binding = offer.capacity.binding
    if binding is None or offer.capacity.rate is None:
        return "–"
    sentence = binding.in_words(planning.objective.percent).split(",")[0]
    return f"{sentence[0].upper()}{sentence[1:]}"


def _count(offer: Offer) -> str:
    if offer.count is None:
        return "–"
    pools = offer.pools
    split = "" if pools is None else f" ({pools[0]}:{pools[1]})"
    return f"{wording.count(offer.count)}{split}"
