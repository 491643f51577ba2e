"""The arguments that name a trace and how to read it, shared by several commands."""

from __future__ import annotations

import argparse

from engine.cli.clock_arguments import add_clock_arguments
from engine.cli.engine_argument import add_engine_argument
from engine.cli.numbers import number
from engine.cli.reading_arguments import add_reading_arguments, reading_of
from engine.cli.remarks import remark
from engine.errors import InputError
from engine.traces import read_trace
from engine.traces.remarks import remarks
from engine.workload import Workload


def add_trace_arguments(parser: argparse.ArgumentParser) -> None:
    """A trace, the memory to serve it with, and the clock."""
    add_traced_arguments(parser)
    parser.add_argument("--memory", "-M", type=number, required=True, help="KV budget M, tokens")
    add_clock_arguments(parser)
    add_engine_argument(parser)


def add_traced_arguments(parser: argparse.ArgumentParser) -> None:
    """A trace, how to read it and how to print."""
    parser.add_argument("trace", metavar="TRACE", help="CSV arrival,prompt,output, or a known log")
    parser.add_argument(
        "--round-seconds",
        type=number,
        default=1.0,
        metavar="X",
        help="seconds a round takes: divides the arrivals of the trace (default 1)",
    )
    add_reading_arguments(parser)
    parser.add_argument("--format", choices=["table", "json"], default="table")


def read_workload(arguments: argparse.Namespace) -> Workload:
    """The trace's requests; what the reader set aside or noticed goes to stderr."""
    try:
        workload, report = read_trace(
            arguments.trace, round_seconds=arguments.round_seconds, **reading_of(arguments)
        )
    except OSError as problem:  # opened, but it cannot be read
        raise InputError(f"cannot read {arguments.trace}: {problem.strerror or problem}") from None
    in_rounds = getattr(arguments, "clock", None) == "rounds"  # `verify` has no clock
    remark(arguments, remarks(report, in_rounds, arguments.round_seconds))
    return workload
