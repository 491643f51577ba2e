"""The arguments that say what a server must keep to."""

from __future__ import annotations

import argparse

from engine.capacity.objective import Objective
from engine.cli.numbers import number
from engine.errors import InputError
from engine.measure.slo import Slo

LIMITS = {"ttft": "time to first token", "tpot": "time per output token", "latency": "end to end"}


def add_limit_arguments(parser: argparse.ArgumentParser) -> None:
    for name, title in LIMITS.items():
        parser.add_argument(
            f"--slo-{name}",
            action="append",
            default=[],
            metavar="[CLASS=]X",
            help=f"limit on the {title}, in clock units, of all requests or of one class",
        )
    parser.add_argument(
        "--percentile", type=number, default=99.0, help="which one keeps to the limits (99)"
    )


def read_objective(arguments: argparse.Namespace) -> Objective:
    """The limits given; InputError names one that cannot be read or is given twice."""
    limits_of: dict[str, dict[str, float]] = {}
    for name in LIMITS:
        for text in getattr(arguments, f"slo_{name}"):
            whose, _, limit = text.rpartition("=")
            limits = limits_of.setdefault(whose, {})
            if name in limits:
                raise InputError(f"--slo-{name} is given twice for {whose or 'all requests'}")
            limits[name] = _number(name, limit, text)
    everyone = Slo(**limits_of.pop("", {}))
    by_class = tuple((whose, Slo(**limits)) for whose, limits in limits_of.items())
    return Objective(everyone, by_class, arguments.percentile)


def _number(name: str, limit: str, text: str) -> float:
    try:
        return float(limit)
    except ValueError:
        raise InputError(f"--slo-{name} must look like 2.5 or short=2.5, got {text}") from None
