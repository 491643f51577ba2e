"""Run policies on a trace."""

from __future__ import annotations

import argparse
import sys

from engine.bound_method import find_method
from engine.cli.admission_arguments import add_admission_arguments, with_admission_limits
from engine.cli.deployment_arguments import read_deployment
from engine.cli.engine_argument import engine_row
from engine.cli.files import check_output, write_text
from engine.cli.numbers import number
from engine.cli.policy_arguments import add_policy_arguments, read_choices
from engine.cli.predict_argument import add_predict_argument, predicted
from engine.cli.remarks import remark
from engine.cli.results import bound_row, show
from engine.cli.topology_arguments import add_topology_arguments, in_closed_loop
from engine.cli.trace_arguments import add_trace_arguments, read_workload
from engine.experiment import Comparison, Experiment, compare
from engine.measure.csv_text import csv_text
from engine.measure.league import Entry
from engine.progress import Found
from engine.workload import set_aside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace_arguments(parser)
    add_topology_arguments(parser)
    add_admission_arguments(parser)
    add_policy_arguments(parser)
    parser.add_argument(
        "--bound",
        action="append",
        default=[],
        metavar="METHOD",
        help="a lower bound to measure the gap against, repeatable",
    )
    parser.add_argument(
        "--seed",
        type=number,
        metavar="N",
        help="of policies and predictions that draw at random (default 0)",
    )
    add_predict_argument(parser)
    parser.add_argument("--per-request", metavar="FILE.csv", help="write one row a request")


def run(arguments: argparse.Namespace) -> None:
    deployment = read_deployment(arguments)
    methods = list(dict.fromkeys(arguments.bound))
    for key in methods:
        find_method(key).check(deployment.clock)
    check_output("--per-request", arguments.per_request, [arguments.trace])
    workload = in_closed_loop(predicted(read_workload(arguments), arguments), arguments)
    workload = with_admission_limits(workload, arguments)
    set_aside(workload, deployment.room)  # some request must fit
    choices = read_choices(arguments, deployment.quick(len(workload)))
    if workload.depends_on_run:
        methods = []  # who is served depends on the policy: remarked
    comparison = compare(Experiment(workload, deployment, choices), methods, _log)
    if arguments.per_request:
        _write_per_request(comparison, arguments.per_request)
    show_comparison(comparison, arguments)


def _log(share: float, what: str = "") -> None:
    """Say on stderr what a search found, and when."""
    if isinstance(what, Found):
        print(f"{100 * share:3.0f} % {what}", file=sys.stderr)


def show_comparison(comparison: Comparison, arguments: argparse.Namespace) -> None:
    """Print it, and remark what goes with it."""
    remark(arguments, comparison.remarks)
    entries = list(comparison.entries.values())
    failed = [
        {"policy": choice.key, "reason": reason} for choice, reason in comparison.failed.items()
    ]
    show(
        {
            "n": entries[0].run.offered,
            "set_aside": len(entries[0].run.set_aside),
            "too_long": entries[0].run.too_long,
            "memory": comparison.experiment.deployment.memory,
            "clock": arguments.clock,
            **engine_row(comparison.experiment.deployment.engine),
            "policies": [_policy_row(entry) for entry in entries],
            **({"failed": failed} if failed else {}),
            "bounds": [bound_row(bound) for bound in comparison.bounds],
            "remarks": arguments.remarks,
        },
        arguments.format == "json",
    )


def _policy_row(entry: Entry) -> dict:
    """One entry of the JSON's "policies" (docs/model.md 6)."""
    row = {"policy": entry.run.policy, "params": entry.run.params, **entry.numbers}
    classes = row.pop("classes")
    return {**row, "gap": entry.gap, "classes": classes}


def _write_per_request(comparison: Comparison, path: str) -> None:
    """Every run's rows in one CSV; a column `policy` leads where there are several."""
    import pandas as pd  # slow to import

    tables = {choice.key: comparison.per_request(choice) for choice in comparison.runs}
    if len(tables) > 1:
        for key, table in tables.items():
            table.insert(0, "policy", key)
    write_text(path, csv_text(pd.concat(tables.values())))
