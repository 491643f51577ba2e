"""The arguments that say how a file of requests is read, the same for every command."""

from __future__ import annotations

import argparse
from typing import Any

from engine.errors import InputError
from engine.traces.clock import PER_SECOND
from engine.traces.log import ROLES


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Units, columns, and what becomes of bad rows."""
    parser.add_argument(
        "--time-unit", choices=PER_SECOND, help="of the arrivals (default: what the format says)"
    )
    parser.add_argument(
        "--duration-unit",
        choices=PER_SECOND,
        help="of measured times whose names tell none (default: s)",
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help=f"the file's name for {', '.join(ROLES)}, repeatable; tokens may be a sum, a+b",
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="NAME",
        help="a column that is not to be used for anything, repeatable",
    )
    parser.add_argument(
        "--strict", action="store_true", help="stop at bad rows of a log instead of counting them"
    )


def reading_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was asked for, as `read_requests` and `read_trace` take it."""
    return {
        "strict": arguments.strict,
        "time_unit": arguments.time_unit,
        "duration_unit": arguments.duration_unit,
        "columns": _columns(arguments.map),
        "ignored": arguments.ignore,
    }


def check_no_reading(arguments: argparse.Namespace) -> None:
    """InputError where a file is described though none is read."""
    for name in ("time_unit", "duration_unit", "map", "ignore"):
        if getattr(arguments, name):
            raise InputError(f"--{name.replace('_', '-')} is for a TRACE: name one")


def _columns(texts: list[str]) -> dict[str, str]:
    """`ROLE=NAME` texts as {role: name}."""
    columns = {}
    for text in texts:
        role, equals, name = text.partition("=")
        if role not in ROLES or not equals or not name:
            raise InputError(
                f"--map must look like prompt=NAME, for one of {', '.join(ROLES)}, got {text}"
            )
        columns[role] = name
    return columns
