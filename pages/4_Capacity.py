"""Capacity: how much a server carries, how many servers a load takes, and at what price."""

import streamlit as st

from pages.parts.capacity_controls import ask_question, need_a_rate
from pages.parts.capacity_day import tell_day
from pages.parts.capacity_levers import tell_levers
from pages.parts.capacity_map import tell_map
from pages.parts.capacity_rates import headline, offers_of, rate_jobs, servers_jobs, tell_rates
from pages.parts.frame import page
from pages.parts.jobs import finished, needed, offer
from pages.parts.literal import sentence
from pages.parts.memory_budget import offer_memory
from pages.parts.view import View


def draw(view: View) -> None:
    """The largest rates and the servers for a load, a map, a day, and what to change."""
    need_a_rate(view)
    opening = st.empty()
    offer_memory(view.memory)
    question = ask_question(view)
    jobs = rate_jobs(view, question)
    (found,) = needed(jobs)
    more = servers_jobs(view, question, found)
    offers = offers_of(found, finished(more))
    opening.markdown(f"# {sentence(headline(view, question, offers))}")
    tell_rates(view, question, offers)
    offer(jobs)
    offer(more)
    tell_levers(view, question, offers[0].capacity)
    tell_map(view, question, found)
    tell_day(view, question, found)


page("Capacity", draw)
