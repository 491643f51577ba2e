"""The largest rate that each policy carries within limits, and the servers for a load."""

from __future__ import annotations

import argparse

from engine import wording
from engine.capacity.answer import answer, interval_in_words
from engine.capacity.cost import Price, price_of
from engine.capacity.draws import SEEDS, Draws
from engine.capacity.objective import Objective
from engine.capacity.offer import Offer, best_first
from engine.capacity.question import Question
from engine.capacity.rate import RateSearch, largest_rates
from engine.capacity.records import rows
from engine.capacity.remarks import remarks
from engine.capacity.servers import fewest_servers_each
from engine.cli.admission_arguments import add_admission_arguments, with_admission_limits
from engine.cli.clients import read_untimed, server_in_words, tell_clients
from engine.cli.deployment_arguments import read_deployment
from engine.cli.engine_argument import engine_row
from engine.cli.limit_arguments import add_limit_arguments, read_objective
from engine.cli.numbers import number
from engine.cli.remarks import remark
from engine.cli.results import print_json, text_table
from engine.cli.scenario_arguments import add_source_arguments, read_source
from engine.cli.sweep_arguments import add_sweep_arguments, progress_on_stderr
from engine.cli.topology_arguments import add_topology_arguments, in_closed_loop
from engine.machine.hardware import find_preset
from engine.scale_out import where


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    add_topology_arguments(parser)
    add_admission_arguments(parser)
    add_limit_arguments(parser)
    add_sweep_arguments(parser)
    parser.add_argument(
        "--seeds", type=number, default=SEEDS, help=f"draws, for the interval ({SEEDS})"
    )
    parser.add_argument(
        "--load",
        type=number,
        metavar="R",
        help="find servers for so many requests a clock unit",
    )
    parser.add_argument(
        "--price", type=number, metavar="USD", help="of a GPU-hour (sample_data/gpus.csv)"
    )
    parser.add_argument("--gpus", type=number, help="GPUs a server (the hardware's)")


def run(arguments: argparse.Namespace) -> None:
    deployment = read_deployment(arguments)
    objective = read_objective(arguments)
    price = _price(arguments)
    source = with_admission_limits(read_source(arguments), arguments)
    if arguments.concurrency:
        tell_clients(arguments, in_closed_loop(source, arguments), deployment, objective)
        return
    draws = Draws(source, arguments.seeds)
    question = Question(draws, deployment, objective)
    offers = _offers(arguments, question)
    load = draws.rate if arguments.load is None else arguments.load
    server = server_in_words(arguments, deployment.topology)
    sentence = answer(offers, load, deployment.unit, server, objective).replace("**", "")
    records = rows(offers, load, draws.present, deployment, price)
    remark(arguments, remarks(offers, draws.present, deployment, objective, price))
    if arguments.format == "table":
        print(f"{sentence}\n\n{_table(best_first(offers), records, objective)}")
        return
    print_json(
        {
            "n": len(draws.present),
            "set_aside": min(record["set_aside"] for record in records),
            "memory": deployment.memory,
            "clock": arguments.clock,
            **engine_row(deployment.engine),
            "percentile": objective.percent,
            "limits": objective.limits,
            "load": arguments.load,
            "seeds": list(draws.seeds),
            "policies": records,
            "answer": sentence,
            "remarks": arguments.remarks,
        }
    )


def _offers(arguments: argparse.Namespace, question: Question) -> list[Offer]:
    """What each chosen policy carries, and the servers for the load where one is given."""
    searches = [RateSearch(choice, question) for choice in read_untimed(arguments, question)]
    on = where(arguments.scheduler)
    by_number = dict(largest_rates(searches, on, progress_on_stderr("rates")))
    capacities = [by_number[number] for number in range(len(searches))]
    if arguments.load is None:
        return [Offer(capacity) for capacity in capacities]
    counted = fewest_servers_each(
        capacities, question, arguments.load, on, progress_on_stderr("servers")
    )
    return [Offer(*pair) for pair in zip(capacities, counted, strict=True)]


def _price(arguments: argparse.Namespace) -> Price:
    preset = None if arguments.hardware is None else find_preset(arguments.hardware)
    known = price_of(preset)
    return Price(
        known.gpu_hour if arguments.price is None else arguments.price,
        known.gpus if arguments.gpus is None else arguments.gpus,
        known.is_assumed and arguments.price is None,
    )


def _table(offers: list[Offer], records: list[dict], objective: Objective) -> str:
    written = [
        {
            "policy": offer.capacity.label,
            "rate": wording.number(record["rate"]),
            "95 % interval": interval_in_words(offer.capacity),
            "binds": "–" if binds is None else binds.in_words(objective.percent).split(",")[0],
            "set aside": wording.percent(record["set_aside_share"]),
            "servers": wording.number(record["servers"]),
            "USD an hour": wording.number(record["cost_per_hour"]),
            "USD a million output tokens": wording.number(record["cost_per_million_tokens"]),
            "input": wording.number(record["cost_per_million_input_tokens"]),
            "total": wording.number(record["cost_per_million_total_tokens"]),
        }
        for offer, record in zip(offers, records, strict=True)
        for binds in [offer.capacity.binding]
    ]
    return text_table({title: [row[title] for row in written] for title in written[0]})
