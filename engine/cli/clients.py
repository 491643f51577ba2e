"""`capacity --concurrency`: the most clients of a closed loop within the limits."""

from __future__ import annotations

import argparse

import pandas as pd

from engine import wording
from engine.capacity.answer import servers_of
from engine.capacity.clients import Clients, ClientSearch, asked_of_clients, most_clients
from engine.capacity.clients_told import (
    answer,
    binds_in_words,
    interval_in_words,
    most_first,
    number_in_words,
    remarks,
    rows,
)
from engine.capacity.objective import Objective
from engine.capacity.question import Question
from engine.choice import Choice
from engine.cli.engine_argument import engine_row
from engine.cli.policy_arguments import read_choices
from engine.cli.remarks import remark
from engine.cli.results import print_json
from engine.cli.sweep_arguments import progress_on_stderr
from engine.demand.source import Source
from engine.errors import InputError
from engine.fleet import Deployment, Topology
from engine.machine.hardware import find_preset
from engine.scale_out import where


def tell_clients(
    arguments: argparse.Namespace, source: Source, deployment: Deployment, objective: Objective
) -> None:
    """Search under every chosen policy, and print."""
    if arguments.load is not None:
        raise InputError("--load is a rate, which a closed loop has not: leave it out")
    question = asked_of_clients(source, deployment, objective, arguments.seeds)
    searches = [
        ClientSearch(choice, question, source.concurrency)
        for choice in read_untimed(arguments, question)
    ]
    on = where(arguments.scheduler)
    served = [
        clients for _, clients in sorted(most_clients(searches, on, progress_on_stderr("clients")))
    ]
    server = server_in_words(arguments, deployment.topology)
    sentence = answer(served, deployment.unit, server, objective).replace("**", "")
    present = question.draws.present
    records = rows(served, present, deployment)
    remark(arguments, remarks(served, present, deployment, objective))
    if arguments.format == "table":
        print(f"{sentence}\n\n{_table(served, records, objective)}")
        return
    print_json(
        {
            "n": len(present),
            "set_aside": min(record["set_aside"] for record in records),
            "memory": deployment.memory,
            "clock": arguments.clock,
            **engine_row(deployment.engine),
            "percentile": objective.percent,
            "limits": objective.limits,
            "concurrency": source.concurrency,
            "seeds": list(question.seeds),
            "policies": records,
            "answer": sentence,
            "remarks": arguments.remarks,
        }
    )


def read_untimed(arguments: argparse.Namespace, question: Question) -> tuple[Choice, ...]:
    """The policies to bisect: none that the clock stops, as its outcome would be chance."""
    quick = question.deployment.quick(len(question.draws.present))
    usual = [choice for choice in quick if not choice.policy.timed]
    choices = read_choices(arguments, usual)
    for choice in choices:
        if choice.policy.timed:
            raise InputError(
                f"{choice.key} stops by the clock: leave it out, its rate would be chance"
            )
    return choices


def server_in_words(arguments: argparse.Namespace, topology: Topology) -> str:
    title = "" if arguments.hardware is None else find_preset(arguments.hardware).title
    return servers_of(topology, title)


def _table(served: list[Clients], records: list[dict], objective: Objective) -> str:
    written = [
        {
            "policy": clients.label,
            "clients": number_in_words(clients),
            "95 % interval": interval_in_words(clients),
            wording.counted(clients.asked, "client"): record["verdict"],
            "binds": binds_in_words(clients, objective.percent),
            "requests a clock unit": wording.number(clients.rate),
            "set aside": wording.percent(record["set_aside_share"]),
        }
        for clients, record in zip(most_first(served), records, strict=True)
    ]
    return pd.DataFrame(written).to_string(index=False)
