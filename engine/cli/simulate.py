"""Run policies on a trace."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

import pandas as pd

from engine import wording
from engine.bound import NO_BOUND, Bound, gap
from engine.bound_method import find_method
from engine.cli.admission_arguments import add_door_arguments, at_the_door
from engine.cli.clock_arguments import read_clock
from engine.cli.files import check_output, write_text
from engine.cli.numbers import number
from engine.cli.predict_argument import add_predict_argument, predicted
from engine.cli.results import bound_row, show
from engine.cli.topology_arguments import add_topology_arguments, in_closed_loop, read_topology
from engine.cli.trace_arguments import add_trace_arguments, read_workload
from engine.errors import InputError, Livelock
from engine.fields import number_in
from engine.fleet import Topology
from engine.measure.overload import verdict
from engine.metrics import per_request, summary
from engine.policy import Policy, find_policy, quick_policies
from engine.progress import Found
from engine.simulate.run import Run
from engine.workload import Workload, check_memory, set_aside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace_arguments(parser)
    add_topology_arguments(parser)
    add_door_arguments(parser)
    parser.add_argument(
        "--policy",
        action="append",
        metavar="KEY",
        help="a policy to run, repeatable (default: every quick one)",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="KEY.NAME=VALUE",
        help="a parameter of a policy, repeatable, such as svf.skip=5",
    )
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
    memory = check_memory(arguments.memory)
    if arguments.seed is not None:
        number_in("--seed", arguments.seed, 0, 2**32 - 1, whole=True)
    clock = read_clock(arguments)
    methods = [find_method(key) for key in dict.fromkeys(arguments.bound)]
    for method in methods:
        method.check(clock)
    check_output("--per-request", arguments.per_request, [arguments.trace])
    topology = read_topology(arguments)
    workload = in_closed_loop(predicted(read_workload(arguments), arguments), arguments)
    workload = at_the_door(workload, arguments)
    set_aside(workload, memory)  # some request must fit
    chosen, params = chosen_policies(arguments, topology, len(workload))
    runs, failed = run_all(chosen, topology, workload, memory, clock, params)
    warn(runs)
    if methods and workload.depends_on_run:
        print(f"no bound: {NO_BOUND}", file=sys.stderr)
        methods = []
    bounds = [
        bound
        for method in methods
        for bound in method.bounds(workload, memory, clock=clock, replicas=topology.servers)
    ]
    if arguments.per_request:
        write_per_request(runs, workload, arguments.per_request)
    show(
        {
            "n": runs[0].offered,
            "set_aside": len(runs[0].set_aside),
            "too_long": runs[0].too_long,
            "memory": memory,
            "clock": arguments.clock,
            "policies": [policy_row(run, bounds) for run in runs],
            **({"failed": failed} if failed else {}),
            "bounds": [bound_row(bound) for bound in bounds],
        },
        arguments.format == "json",
    )


def chosen_policies(
    arguments: argparse.Namespace, topology: Topology, n: int
) -> tuple[list[Policy], dict[str, dict]]:
    """The policies that were asked for, else the quick ones, and by key their parameters."""
    given = read_params(arguments.param)
    unasked = [key for key in quick_policies(n) if topology.takes(find_policy(key))]
    keys = list(dict.fromkeys(arguments.policy or unasked))
    chosen = [find_policy(key) for key in keys]
    for key in given.keys() - set(keys):
        raise InputError(f"a parameter of {key} is given, but {key} is not among the policies")
    return chosen, {policy.key: policy_params(policy, given, arguments.seed) for policy in chosen}


def run_all(chosen, topology, workload, memory, clock, params) -> tuple[list[Run], list[dict]]:
    """Every policy's run; one that would never end is told on stderr and listed apart."""
    runs, failed = [], []
    for policy in chosen:
        try:
            given = params[policy.key]
            runs.append(topology.run(policy, workload, memory, _log, clock, **given))
        except Livelock as problem:
            print(problem, file=sys.stderr)
            failed.append({"policy": policy.key, "reason": str(problem)})
    if not runs:
        raise InputError(failed[0]["reason"])
    return runs, failed


def _log(share: float, told: str = "") -> None:
    """Say on stderr what a search found, and when."""
    if isinstance(told, Found):
        print(f"{100 * share:3.0f} % {told}", file=sys.stderr)


def warn(runs: list[Run]) -> None:
    """Say on stderr whose latencies are of some requests only, or no steady state."""
    for run in runs:
        if len(run.unserved):
            served = f"latencies are of the {wording.count(len(run.workload))} served"
            print(f"{run.policy}: {run.unserved.in_words()}; {served}", file=sys.stderr)
        found = verdict(run)
        if found.kind == "overloaded":
            print(f"{run.policy}: {found.in_words()}", file=sys.stderr)


def policy_row(run: Run, bounds: list[Bound]) -> dict:
    """One entry of the JSON's "policies" (DESIGN 6)."""
    row = {"policy": run.policy, "params": run.params, **summary(run)}
    classes = row.pop("classes")
    return {**row, "gap": gap(run, bounds), "classes": classes}


def read_params(given: list[str]) -> dict[str, dict[str, str]]:
    """`KEY.NAME=VALUE` texts as {key: {name: value}}."""
    params: dict[str, dict[str, str]] = {}
    for text in given:
        place, equals, value = text.partition("=")
        key, dot, name = place.rpartition(".")
        if not (equals and dot and key and name and value):
            raise InputError(f"--param must look like svf.skip=5, got {text}")
        find_policy(key)
        params.setdefault(key, {})[name] = value
    return params


def policy_params(policy: Policy, given: Mapping, seed: float | None) -> dict:
    """A policy's parameters, checked; `--seed` is that of every policy that draws at random."""
    own = given.get(policy.key, {})
    if seed is not None and any(param.name == "seed" for param in policy.params):
        own = {"seed": seed, **own}
    return policy.read_params(own)


def write_per_request(runs: list[Run], workload: Workload, path: str) -> None:
    """Every run's rows in one CSV; a column `policy` leads where there are several."""
    tables = [per_request(run, workload) for run in runs]
    if len(runs) > 1:
        for run, table in zip(runs, tables, strict=True):
            table.insert(0, "policy", run.policy)
    write_text(path, pd.concat(tables).to_csv(index=False))
