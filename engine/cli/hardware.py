"""List the GPUs whose round times are known, and change, export or add presets of your own."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from engine.errors import InputError
from engine.machine import own_presets
from engine.machine.hardware import find_preset, presets
from engine.machine.preset import COEFFICIENTS, Preset, record_of
from engine.machine.preset_text import MOST_CHARACTERS, PREFIX, is_own, read_preset, write_preset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rename", nargs=2, metavar=("PRESET", "NAME"), help="give a preset of yours another name"
    )
    parser.add_argument("--delete", metavar="PRESET", help="delete a preset of yours")
    parser.add_argument(
        "--export", metavar="PRESET", help="print a preset as a JSON file, and nothing else"
    )
    parser.add_argument("--add", metavar="FILE", help="keep the preset in such a file")
    parser.add_argument("--format", choices=["table", "json"], default="table")


def run(arguments: argparse.Namespace) -> None:
    if arguments.rename:
        own_presets.rename(_own_key(arguments.rename[0]), arguments.rename[1])
    if arguments.delete:
        own_presets.delete(_key_to_delete(arguments.delete))
    if arguments.add:
        own_presets.save(_read(arguments.add))
    if arguments.export:
        print(write_preset(find_preset(arguments.export)))
        return
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
    if not is_own(key):
        raise InputError(f"{key} comes with the project: only your own presets can be changed")
    return key


def _key_to_delete(name: str) -> str:
    """The same, also of one that cannot be read."""
    odd = {row.name for row in own_presets.listed()[1] if row.id is not None}
    return name if name in odd else _own_key(name)


def _read(file: str) -> Preset:
    try:
        with Path(file).open(encoding="utf-8-sig") as opened:
            text = opened.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{file} cannot be read: {problem}") from None
    return read_preset(text, PREFIX)


def _round_time(preset: Preset) -> str:
    values = zip(COEFFICIENTS, preset.clock.step, strict=True)
    error = f", mean error {preset.error_percent:g} %" if preset.error_percent else ""
    return ",".join(f"{name}={value:g}" for name, value in values) + error
