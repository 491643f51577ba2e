"""How many clients of a closed loop are served within the limits, on the Capacity page."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from engine import wording
from engine.capacity.clients import (
    Clients,
    ClientSearch,
    asked_of_clients,
    most_clients,
    seconds,
)
from engine.capacity.clients_told import (
    answer,
    binds_in_words,
    interval_in_words,
    most_first,
    number_in_words,
    remarks,
)
from engine.capacity.objective import Objective
from engine.capacity.question import Question
from engine.errors import InputError, as_sentence
from engine.progress import Progress
from engine.scale_out import where
from pages.parts import show
from pages.parts.capacity.controls import (
    ask_limits,
    ask_percent,
    ask_seeds,
    clock_step,
    server_in_words,
)
from pages.parts.capacity.rates import is_affordable
from pages.parts.jobs import Job, NothingYet, needed, offer
from pages.parts.literal import sentence
from pages.parts.view import View


def tell_clients(view: View) -> None:
    """The answer, its limits, and a table of the policies."""
    opening = st.empty()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent, seeds = ask_percent(), ask_seeds(view)
    objective = ask_limits(view, percent)
    try:
        question = asked_of_clients(view.experiment.source, view.deployment, objective, seeds)
    except InputError as problem:
        opening.markdown("# Capacity in a closed loop is a number of clients")
        raise NothingYet(as_sentence(problem)) from None
    jobs = _jobs(view, question)
    (served,) = needed(jobs)
    best = answer(served, view.deployment.unit, server_in_words(view), objective)
    opening.markdown(f"# {sentence(best)}")
    _tell(view, question, served)
    offer(jobs)


def _jobs(view: View, question: Question) -> list[Job]:
    """One search a chosen policy."""
    asked = view.workload.concurrency
    return [_job(view, ClientSearch(choice, question, asked)) for choice in view.choices]


def _job(view: View, search: ClientSearch) -> Job:
    def compute(progress: Progress) -> Clients:
        return dict(most_clients([search], where(), progress))[0]

    return Job(
        key=("clients", search),
        title=f"the clients of {search.choice.key}",
        seconds=seconds(search) if is_affordable(view, search.choice) else math.inf,
        compute=compute,
    )


def _tell(view: View, question: Question, served: list[Clients]) -> None:
    there = {clients.label for clients in served}
    not_run = [choice.label for choice in view.choices if choice.label not in there]
    show.remarks(
        remarks(served, question.draws.present, view.deployment, question.objective, not_run)
    )
    _table(view, question.objective, served)
    st.caption(
        "Each client sends a request, waits for its answer and sends the next at once. Rates are "
        "those at which so many clients are served together."
    )


def _table(view: View, objective: Objective, served: list[Clients]) -> None:
    ordered = most_first(served)
    asked = wording.counted(served[0].asked, "client")
    table = pd.DataFrame(
        {
            "Policy": [clients.label for clients in ordered],
            "Clients": [number_in_words(clients) for clients in ordered],
            "95\u202f% interval": [interval_in_words(clients) for clients in ordered],
            asked: ["within" if clients.carries_asked else "not within" for clients in ordered],
            "What binds": [binds_in_words(clients, objective.percent) for clients in ordered],
            f"Rate (a {clock_step(view)})": [wording.number(clients.rate) for clients in ordered],
        }
    )
    show.rows(table, "The most clients within the limits, by policy")
