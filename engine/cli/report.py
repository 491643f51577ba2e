"""Write what the dashboard shows of requests into one web page that needs no server."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine import wording
from engine.bound_method import default_method, find_method
from engine.cli.admission_arguments import add_admission_arguments, with_admission_limits
from engine.cli.deployment_arguments import read_deployment
from engine.cli.files import check_output, write_text
from engine.cli.policy_arguments import read_choices
from engine.cli.remarks import remark
from engine.cli.scenario_arguments import add_source_arguments, read_source
from engine.cli.simulate import show_comparison
from engine.cli.topology_arguments import add_topology_arguments, in_closed_loop
from engine.experiment import Experiment, compare
from engine.measure.remarks import failures
from engine.saved.snapshot import facts_of
from engine.workload import set_aside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser, tables=False)
    add_topology_arguments(parser)
    add_admission_arguments(parser)
    parser.add_argument(
        "--bound",
        action="append",
        metavar="METHOD",
        help="a lower bound to measure the gap against, repeatable (default: the quickest)",
    )
    parser.add_argument("--format", choices=["json"], help="print the numbers, too")
    parser.add_argument(
        "--output", "-o", required=True, metavar="FILE.html", help="the page to write"
    )


def run(arguments: argparse.Namespace) -> None:
    deployment = read_deployment(arguments)
    check_output("--output", arguments.output, [arguments.trace] if arguments.trace else [])
    methods = list(dict.fromkeys(arguments.bound or [default_method(deployment.clock).key]))
    for key in methods:
        find_method(key).check(deployment.clock)
    source = with_admission_limits(in_closed_loop(read_source(arguments), arguments), arguments)
    experiment = Experiment(source, deployment)
    set_aside(experiment.workload, deployment.room)  # some request must fit
    usual = deployment.quick(len(experiment.workload))
    experiment = experiment.choosing(read_choices(arguments, usual))
    depends = experiment.workload.depends_on_run
    comparison = compare(experiment, [] if depends else methods)
    trace = "" if arguments.trace is None else Path(arguments.trace).name
    facts = facts_of(experiment, trace)
    from engine.reports.session_report import session_report  # plotly is slow to import

    what = trace or str(source)
    title = f"{what}, M = {wording.count(deployment.memory)}"
    beside = [*arguments.remarks, *failures(comparison.reasons)]
    page = session_report(title, facts, comparison.league, comparison.bounds, beside=beside)
    remark(arguments, comparison.remarks)
    write_text(arguments.output, page)
    if arguments.format == "json":
        show_comparison(comparison, arguments)
