"""The argument that says which serving engine imposes its rules."""

from __future__ import annotations

import argparse

from engine.engines import ENGINES, IDEAL, Engine, read_engine
from engine.machine.catalogue import Gpu, gpus
from engine.machine.hardware import find_preset


def add_engine_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        metavar="NAME[:OPTION=VALUE,..]",
        help=f"whose rules hold for every policy: {', '.join(ENGINES)} (default ideal), with its "
        f"options {', '.join(IDEAL.options)}",
    )


def read_engine_argument(arguments: argparse.Namespace) -> Engine:
    """The engine that was asked for, with its defaults on the GPU of `--hardware`."""
    if arguments.engine is None:
        return IDEAL
    return read_engine(arguments.engine, _gpu(arguments))


def _gpu(arguments: argparse.Namespace) -> Gpu | None:
    if arguments.hardware is None or arguments.clock == "rounds":
        return None
    return gpus().get(find_preset(arguments.hardware).gpu)


def engine_row(engine: Engine) -> dict:
    """What the JSON of every command says of it; the ideal one has no options."""
    options = {} if engine.is_ideal else {"engine_options": engine.options}
    return {"engine": engine.profile, **options}
