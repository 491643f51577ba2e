"""Write what the dashboard shows of requests into one web page that needs no server."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine import wording
from engine.bound_method import find_method
from engine.cli.admission_arguments import add_admission_arguments, with_admission_limits
from engine.cli.clock_arguments import read_clock
from engine.cli.files import check_output, write_text
from engine.cli.scenario_arguments import add_source_arguments, read_source
from engine.cli.simulate import chosen_policies, run_all, warn
from engine.cli.topology_arguments import add_topology_arguments, in_closed_loop, read_topology
from engine.demand.generate import generate
from engine.demand.scenario import Scenario
from engine.measure.league import label_of, league
from engine.saved.snapshot import facts_of
from engine.workload import check_memory, set_aside


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
    parser.add_argument(
        "--output", "-o", required=True, metavar="FILE.html", help="the page to write"
    )


def run(arguments: argparse.Namespace) -> None:
    memory = check_memory(arguments.memory)
    clock, topology = read_clock(arguments), read_topology(arguments)
    check_output("--output", arguments.output, [arguments.trace] if arguments.trace else [])
    methods = _methods(arguments, clock)
    source = read_source(arguments, memory)
    scenario = source if isinstance(source, Scenario) else None
    workload = in_closed_loop(generate(scenario) if scenario else source, arguments)
    workload = with_admission_limits(workload, arguments)
    set_aside(workload, memory)  # some request must fit
    chosen, params = chosen_policies(arguments, topology, len(workload))
    runs, _ = run_all(chosen, topology, workload, memory, clock, params)
    warn(runs)
    bounds = [
        bound
        for method in ([] if workload.depends_on_run else methods)
        for bound in method.bounds(workload, memory, clock=clock, replicas=topology.servers)
    ]
    entries = league(runs, bounds)
    trace = "" if scenario else Path(arguments.trace).name
    labels = [label_of(run) for run in runs]
    facts = facts_of(workload, scenario, memory, clock, topology, labels, trace)
    from engine.reports.session_report import session_report  # plotly is slow to import

    title = str(scenario) if scenario else f"{trace}, M = {wording.count(memory)}"
    write_text(arguments.output, session_report(title, facts, entries, bounds))


def _methods(arguments: argparse.Namespace, clock) -> list:
    """Those asked for; else the quickest that the clock has."""
    quickest = "fluid" if clock.is_rounds else "srpt"
    methods = [find_method(key) for key in dict.fromkeys(arguments.bound or [quickest])]
    for method in methods:
        method.check(clock)
    return methods
