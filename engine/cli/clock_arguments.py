"""The arguments that say how time is told."""

from __future__ import annotations

import argparse

from engine.errors import InputError
from engine.machine.clock import ROUNDS, Clock
from engine.machine.hardware import find_preset, read_coefficients, shipped_presets


def add_clock_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clock", choices=["rounds", "seconds"], default="rounds", help="the unit of time"
    )
    parser.add_argument(
        "--hardware",
        metavar="KEY",
        help="whose rounds to time on the seconds clock: a preset of yours or "
        f"{', '.join(shipped_presets())}",
    )
    parser.add_argument(
        "--coefficients",
        metavar="c0=..,c1=..,N0=..,c2=..,c3=..",
        help="seconds of a round: c0 + c1*max(0, N - N0) + c2*K + c3*B",
    )


def read_clock(arguments: argparse.Namespace) -> Clock:
    """The clock that was asked for; InputError where the arguments contradict each other."""
    named = [name for name in ("hardware", "coefficients") if getattr(arguments, name) is not None]
    if arguments.clock == "rounds":
        if named:
            raise InputError(f"--{named[0]} is for the seconds clock: add --clock seconds")
        return ROUNDS
    if arguments.round_seconds != 1.0:
        raise InputError("--round-seconds is for the rounds clock: leave it out")
    if len(named) != 1:
        raise InputError("the seconds clock needs either --hardware KEY or --coefficients c0=..")
    if arguments.hardware is not None:
        return find_preset(arguments.hardware).clock
    return read_coefficients(arguments.coefficients)
