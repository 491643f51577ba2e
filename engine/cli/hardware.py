"""List the GPUs whose round times are known, and rename or delete presets of your own."""

from __future__ import annotations

import argparse
import json
import sys

from engine.errors import InputError
from engine.machine import own_presets
from engine.machine.hardware import find_preset, presets
from engine.machine.preset import COEFFICIENTS, Preset, record_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rename", nargs=2, metavar=("PRESET", "NAME"), help="give a preset of yours another name"
    )
    parser.add_argument("--delete", metavar="PRESET", help="delete a preset of yours")
    parser.add_argument("--format", choices=["table", "json"], default="table")


def run(arguments: argparse.Namespace) -> None:
    if arguments.rename:
        own_presets.rename(_own_key(arguments.rename[0]), arguments.rename[1])
    if arguments.delete:
        own_presets.delete(_own_key(arguments.delete))
    for problem in own_presets.unreadable():
        print(problem, file=sys.stderr)
    if arguments.format == "json":
        print(json.dumps([record_of(preset) for preset in presets().values()], indent=1))
        return
    for preset in presets().values():
        print(f"{preset.key}: {preset.title}")
        print(f"  {_round_time(preset)}")
        print(f"  {preset.fit}")


def _own_key(name: str) -> str:
    """The key of a preset of the user's own, by key or name."""
    key = find_preset(name).key
    if not own_presets.is_own(key):
        raise InputError(f"{key} comes with the project: only your own presets can be changed")
    return key


def _round_time(preset: Preset) -> str:
    values = zip(COEFFICIENTS, preset.clock.step, strict=True)
    error = f", mean error {preset.error_percent:g} %" if preset.error_percent else ""
    return ",".join(f"{name}={value:g}" for name, value in values) + error
