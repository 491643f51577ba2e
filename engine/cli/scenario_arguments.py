"""The arguments that describe requests to draw, or name a trace to take them from."""

from __future__ import annotations

import argparse
from dataclasses import fields

from engine.cli.clock_arguments import add_clock_arguments
from engine.cli.engine_argument import add_engine_argument
from engine.cli.generate import NUMBERS
from engine.cli.numbers import number
from engine.cli.policy_arguments import add_policy_arguments
from engine.cli.predict_argument import add_predict_argument, predicted
from engine.cli.reading_arguments import add_reading_arguments, check_no_reading
from engine.cli.trace_arguments import read_workload
from engine.demand.arrivals import ARRIVALS
from engine.demand.scenario import Scenario, read_mix
from engine.demand.source import Source
from engine.errors import InputError

# What describes a scenario here: its closed loop and its admission limits have no arguments.
FIELDS = [
    field.name
    for field in fields(Scenario)
    if field.name not in ("concurrency", "admission_limits")
]


def add_source_arguments(parser: argparse.ArgumentParser, tables: bool = True) -> None:
    """A trace or what describes a scenario, the memory, the clock, and how to print `tables`."""
    parser.add_argument(
        "trace", nargs="?", metavar="TRACE", help="a CSV or a known log; without it, a mix is drawn"
    )
    parser.add_argument("--memory", "-M", type=number, required=True, help="KV budget M, tokens")
    parser.add_argument("--mix", metavar="short=0.8,long=0.2", help="request classes and shares")
    over_time = [kind for kind in ARRIVALS if kind != "backlog"]
    parser.add_argument("--arrivals", choices=over_time, help="how requests arrive (poisson)")
    for name, meaning in NUMBERS.items():
        default = getattr(Scenario, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=number, help=f"{meaning} (default {default})")
    add_predict_argument(parser)
    parser.add_argument(
        "--round-seconds", type=number, default=1.0, metavar="X", help="divides a trace's arrivals"
    )
    add_reading_arguments(parser)
    add_clock_arguments(parser)
    add_engine_argument(parser)
    add_policy_arguments(parser)
    if tables:
        parser.add_argument("--format", choices=["table", "json"], default="table")


def read_source(arguments: argparse.Namespace) -> Source:
    """The trace's requests, or the scenario that the arguments describe."""
    values = {
        name: value for name in FIELDS if (value := getattr(arguments, name, None)) is not None
    }
    if arguments.trace is None:
        check_no_reading(arguments)
        if "mix" in values:
            values["mix"] = read_mix(values["mix"])
        return Scenario(**{"arrivals": "poisson", **values})
    allowed = () if arguments.predict is None else ("predict", "seed")
    for name in values:
        if name not in allowed:
            raise InputError(f"--{name.replace('_', '-')} is for a mix, not for a TRACE")
    return predicted(read_workload(arguments), arguments)
