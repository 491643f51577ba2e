"""The arguments that say which requests are not served, whatever the policy."""

from __future__ import annotations

import argparse
from dataclasses import replace

from engine.admission_limits import AdmissionLimits
from engine.cli.numbers import number
from engine.cli.topology_arguments import Requested


def add_admission_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--patience",
        type=number,
        default=0,
        metavar="W",
        help="clock units after which a client gives up who was not admitted (0: never)",
    )
    parser.add_argument(
        "--queue-limit",
        type=number,
        default=0,
        metavar="N",
        help="requests that may wait for admission; one that comes then is turned away (0: all)",
    )
    add_length_argument(parser)


def add_length_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-model-len",
        type=number,
        default=0,
        metavar="TOKENS",
        help="longer requests, prompt + output, are set aside (0: none)",
    )


def with_admission_limits(source: Requested, arguments: argparse.Namespace) -> Requested:
    """The requests, or what draws them, with these limits; some commands have but the length."""
    patience = getattr(arguments, "patience", 0)
    queue_limit = getattr(arguments, "queue_limit", 0)
    limits = AdmissionLimits(patience, queue_limit, arguments.max_model_len)
    return replace(source, admission_limits=limits)
