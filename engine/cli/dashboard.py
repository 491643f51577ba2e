"""Open the dashboard: a server for browsers, until it is interrupted."""

from __future__ import annotations

import argparse
import runpy
import sys

from engine.mode import current_mode
from engine.sample_data import DASHBOARD


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "options",
        nargs="*",
        metavar="-- OPTION",
        help="options of `streamlit run`, after two dashes: -- --server.port 8600",
    )


def run(arguments: argparse.Namespace) -> None:
    """In this process, so that whatever ends it ends the server; exits with the server's code.

    Raises
    ------
    InputError
        Where HEADROOM_MODE names no mode.
    """
    settings = current_mode().settings.items()
    of_mode = [word for name, value in settings for word in (f"--{name}", str(value).lower())]
    sys.argv = ["streamlit", "run", str(DASHBOARD), *of_mode, *arguments.options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
