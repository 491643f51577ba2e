"""Draw a workload and write it as CSV."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from engine.cli.files import check_output
from engine.cli.numbers import number
from engine.cli.predict_argument import add_predict_argument
from engine.demand.arrivals import ARRIVALS
from engine.demand.generate import generate
from engine.demand.scenario import Scenario, read_mix
from engine.errors import InputError
from engine.traces import write_csv

NUMBERS = {
    "n": "how many requests",
    "horizon": "instead of n: the requests that arrive up to this time",
    "rate": "mean arrivals in a clock unit (all but backlog)",
    "burstiness": "CV of the gaps between arrivals (gamma)",
    "period": "length of a period (on-off)",
    "on-share": "share of a period in which requests arrive (on-off)",
    "seed": "of all draws",
}
USED_BY = {
    "rate": ("poisson", "gamma", "on-off"),
    "burstiness": ("gamma",),
    "period": ("on-off",),
    "on_share": ("on-off",),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mix", metavar="short=0.8,long=0.2", help="request classes and shares")
    parser.add_argument("--arrivals", choices=ARRIVALS, help="how requests arrive")
    for name, meaning in NUMBERS.items():
        default = getattr(Scenario, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=number, help=f"{meaning} (default {default})")
    add_predict_argument(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE.csv", help="where to write")


def run(arguments: argparse.Namespace) -> None:
    asked = {
        field.name: value
        for field in fields(Scenario)
        if (value := getattr(arguments, field.name, None)) is not None
    }
    if "mix" in asked:
        asked["mix"] = read_mix(asked["mix"])
    if "n" in asked and "horizon" in asked:
        raise InputError("give either --n or --horizon, not both")
    check_output("--output", arguments.output)
    scenario = Scenario(**asked)
    _check_used(asked, scenario.arrivals)
    write_csv(generate(scenario), arguments.output)
    print(f"{arguments.output}: {scenario}", file=sys.stderr)


def _check_used(asked, arrivals: str) -> None:
    """InputError for a number that these arrivals have no use for."""
    for name, kinds in USED_BY.items():
        if name in asked and arrivals not in kinds:
            raise InputError(
                f"--{name.replace('_', '-')} says nothing of {arrivals} arrivals: leave it out, or "
                f"set --arrivals {' or '.join(kinds)}"
            )
