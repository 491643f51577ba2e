"""Where a sweep runs, and how far it is while somebody waits for it at a terminal."""

from __future__ import annotations

import argparse
import sys

from engine.progress import Progress, silent
from engine.scale_out import SCHEDULER


def add_sweep_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help=f"of a Dask cluster to run on (default: {SCHEDULER} in the environment, or else the "
        "cores of this machine)",
    )


def progress_on_stderr(what: str) -> Progress:
    """A line that counts up; nothing where nobody looks."""
    if not sys.stderr.isatty():
        return silent

    def tell(share: float, sentence: str = "") -> None:
        line = f"{what}: {sentence}" if share < 1 else ""
        print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)

    return tell
