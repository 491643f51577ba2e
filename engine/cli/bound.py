"""Bound what any policy could reach on a trace."""

from __future__ import annotations

import argparse

from engine.bound_method import METHODS, default_method, find_method
from engine.cli.admission_arguments import add_length_argument, with_admission_limits
from engine.cli.deployment_arguments import read_deployment
from engine.cli.engine_argument import engine_row
from engine.cli.files import check_output, write_text
from engine.cli.numbers import number
from engine.cli.remarks import remark
from engine.cli.results import bound_row, show
from engine.cli.trace_arguments import add_trace_arguments, read_workload
from engine.errors import InputError
from engine.evidence.certificate import certificate
from engine.measure.set_aside import SetAside, who_is_set_aside
from engine.workload import set_aside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace_arguments(parser)
    add_length_argument(parser)
    parser.add_argument(
        "--method",
        action="append",
        metavar="METHOD",
        help=f"how to bound, repeatable: {', '.join(METHODS)} (default: fluid, or srpt in seconds)",
    )
    parser.add_argument(
        "--preemptive",
        action="store_true",
        help="only the bounds that also hold for runs that give up KV cache",
    )
    parser.add_argument(
        "--certificate", metavar="FILE", help="write the prices that prove the bounds, for `verify`"
    )
    parser.add_argument("--time-limit", type=number, metavar="S", help="seconds a solver may take")


def run(arguments: argparse.Namespace) -> None:
    deployment = read_deployment(arguments)
    usual = [default_method(deployment.clock).key]
    methods = [find_method(key) for key in dict.fromkeys(arguments.method or usual)]
    if arguments.certificate and not deployment.engine.is_ideal:
        raise InputError("certificates speak of the ideal engine: leave out --engine")
    check_output("--certificate", arguments.certificate, [arguments.trace])
    workload = with_admission_limits(read_workload(arguments), arguments)
    bounds = [
        bound
        for method in methods
        for bound in deployment.bounds(method, workload, arguments.time_limit)
        if bound.covers_preemption or not arguments.preemptive
    ]
    if arguments.certificate:
        write_text(arguments.certificate, certificate(bounds, workload, deployment.memory))
    fitting, aside = set_aside(workload, deployment.room)
    doubt = workload.admission_limits.doubt(deployment.memory)
    counts = {"": SetAside.of(workload, deployment.room)}
    remark(arguments, [*([doubt] if doubt else []), *who_is_set_aside(counts, len(workload))])
    show(
        {
            "n": len(fitting),
            "set_aside": len(aside),
            "memory": deployment.memory,
            "clock": arguments.clock,
            **engine_row(deployment.engine),
            "policies": [],
            "bounds": [bound_row(bound) for bound in bounds],
            "remarks": arguments.remarks,
        },
        arguments.format == "json",
    )
