"""Draw a workload and write it as CSV."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from engine.arrivals import ARRIVALS
from engine.generate import generate
from engine.scenario import Scenario, read_mix
from engine.traces import write_csv

NUMBERS = {
    "n": (int, "how many requests"),
    "horizon": (float, "instead of n: the requests that arrive up to this time"),
    "rate": (float, "mean arrivals in a clock unit"),
    "burstiness": (float, "CV of the gaps between arrivals (gamma)"),
    "period": (float, "length of a period (on-off)"),
    "on-share": (float, "share of a period in which requests arrive (on-off)"),
    "seed": (int, "of all draws"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mix", metavar="short=0.8,long=0.2", help="request classes and shares")
    parser.add_argument("--arrivals", choices=ARRIVALS, help="how requests arrive")
    for name, (kind, meaning) in NUMBERS.items():
        default = getattr(Scenario, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=kind, help=f"{meaning} (default {default})")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.csv", help="where to write")


def run(arguments: argparse.Namespace) -> None:
    given = {
        field.name: value
        for field in fields(Scenario)
        if (value := getattr(arguments, field.name, None)) is not None
    }
    if "mix" in given:
        given["mix"] = read_mix(given["mix"])
    scenario = Scenario(**given)
    write_csv(generate(scenario), arguments.output)
    print(f"{arguments.output}: {scenario}", file=sys.stderr)
