"""The largest rate that each policy carries within limits, and the servers for a load."""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from engine import wording
from engine.capacity.answer import Offer, answer, best_first, interval_in_words, rows, servers_of
from engine.capacity.cost import Price, price_of
from engine.capacity.draws import SEEDS, Draws
from engine.capacity.rate import Server, largest_rates
from engine.capacity.servers import fewest_servers_each
from engine.cli.clock_arguments import read_clock
from engine.cli.limit_arguments import add_limit_arguments, read_objective
from engine.cli.numbers import number
from engine.cli.results import print_json
from engine.cli.scenario_arguments import add_source_arguments, read_source
from engine.cli.simulate import read_params
from engine.cli.sweep_arguments import add_sweep_arguments, progress_on_stderr
from engine.cli.topology_arguments import add_topology_arguments, read_topology
from engine.errors import InputError
from engine.fleet import Topology
from engine.machine.hardware import find_preset
from engine.policy import POLICIES, find_policy, quick_policies
from engine.scale_out import where
from engine.workload import check_memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    add_topology_arguments(parser)
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
    memory = check_memory(arguments.memory)
    clock = read_clock(arguments)
    objective = read_objective(arguments)
    price = _price(arguments)
    topology = read_topology(arguments)
    if arguments.concurrency:
        raise InputError("a closed loop waits for its servers and has no rate: leave it out")
    draws = Draws(read_source(arguments, memory), arguments.seeds)
    offers = _offers(arguments, draws, memory, objective, clock, topology)
    load = draws.rate if arguments.load is None else arguments.load
    told = answer(offers, load, clock.unit, _server(arguments, topology), objective)
    limits = {"all": objective.slo.limits}
    limits |= {name: slo.limits for name, slo in objective.by_class}
    records = rows(offers, load, float(draws.present.output.mean()), clock, price)
    if arguments.format == "table":
        print(f"{told.replace('**', '')}\n\n{_table(best_first(offers), records)}")
        return
    print_json(
        {
            "memory": memory,
            "clock": arguments.clock,
            "percentile": objective.percent,
            "limits": limits,
            "load": arguments.load,
            "seeds": list(draws.seeds),
            "policies": records,
            "answer": told.replace("**", ""),
        }
    )


def _chosen(arguments: argparse.Namespace, topology: Topology, n: int) -> dict[str, dict]:
    """The parameters given for each policy, by its key."""
    params = read_params(arguments.param)
    able = [key for key in quick_policies(n) if topology.takes(POLICIES[key])]
    quick = [key for key in able if not POLICIES[key].timed]
    keys = list(dict.fromkeys(arguments.policy or quick))
    for key in params.keys() - set(keys):
        raise InputError(f"a parameter of {key} is given, but {key} is not among the policies")
    for key in keys:
        if find_policy(key).timed:
            raise InputError(f"{key} stops by the clock: leave it out, its rate would be chance")
    return {key: params.get(key, {}) for key in keys}


def _offers(arguments, draws, memory, objective, clock, topology) -> list[Offer]:
    """What each chosen policy carries, and the servers for the load where one is given."""
    servers = [
        Server(find_policy(key), params, draws, memory, objective, clock, topology)
        for key, params in _chosen(arguments, topology, len(draws.present)).items()
    ]
    on = where(arguments.scheduler)
    by_number = dict(largest_rates(servers, on, progress_on_stderr("rates")))
    found = [by_number[number] for number in range(len(servers))]
    if arguments.load is None:
        return [Offer(capacity) for capacity in found]
    given = (found, draws, memory, arguments.load, objective, clock, topology)
    counted = fewest_servers_each(*given, on, progress_on_stderr("servers"))
    return [Offer(*pair) for pair in zip(found, counted, strict=True)]


def _server(arguments: argparse.Namespace, topology: Topology) -> str:
    title = "" if arguments.hardware is None else find_preset(arguments.hardware).title
    return servers_of(topology, title)


def _price(arguments: argparse.Namespace) -> Price:
    preset = None if arguments.hardware is None else find_preset(arguments.hardware)
    known = price_of(preset)
    if preset is None and arguments.price is None and arguments.load is not None:
        print(f"a GPU-hour is taken to cost {known.gpu_hour:g} USD: set --price", file=sys.stderr)
    return Price(
        known.gpu_hour if arguments.price is None else arguments.price,
        known.gpus if arguments.gpus is None else arguments.gpus,
    )


def _table(offers: list[Offer], records: list[dict]) -> str:
    written = [
        {
            "policy": offer.capacity.label,
            "rate": wording.number(record["rate"]),
            "95 % interval": interval_in_words(offer.capacity),
            "servers": wording.number(record["servers"]),
            "USD an hour": wording.number(record["cost_per_hour"]),
            "USD a million tokens": wording.number(record["cost_per_million_tokens"]),
        }
        for offer, record in zip(offers, records, strict=True)
    ]
    return pd.DataFrame(written).to_string(index=False)
