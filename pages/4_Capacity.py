"""Capacity: how much a server carries, how many servers a load takes, and at what price."""

import streamlit as st

from pages.parts.capacity.clients import tell_clients
from pages.parts.capacity.controls import ask_planning, need_a_rate
from pages.parts.capacity.day import tell_day
from pages.parts.capacity.levers import tell_levers
from pages.parts.capacity.map import tell_map
from pages.parts.capacity.rates import headline, offers_of, rate_jobs, servers_jobs, tell_rates
from pages.parts.frame import page
from pages.parts.jobs import finished, needed, offer
from pages.parts.literal import sentence
from pages.parts.sidebar.memory import offer_memory
from pages.parts.view import View


def draw(view: View) -> None:
    """The largest rates and the servers for a load, a map, a day, and what to change.

    Of a closed loop, which has no rate, the most clients.
    """
    if view.workload.concurrency:
        tell_clients(view)
        return
    need_a_rate(view)
    opening = st.empty()
    offer_memory(view.deployment.memory)
    planning = ask_planning(view)
    jobs = rate_jobs(view, planning)
    (capacities,) = needed(jobs)
    more = servers_jobs(planning, capacities)
    offers = offers_of(capacities, finished(more))
    opening.markdown(f"# {sentence(headline(view, planning, offers))}")
    tell_rates(view, planning, offers)
    offer(jobs)
    offer(more)
    tell_levers(view, planning, offers[0].capacity)
    tell_map(view, planning, capacities)
    tell_day(view, planning, capacities)


page(
    "Capacity",
    draw,
    icon=":material/dns:",
    question="How much is carried, how many servers does a load take, and at what price?",
)
