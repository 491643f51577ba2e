"""Open the dashboard: a server for browsers, until it is interrupted."""

from __future__ import annotations

import argparse
import runpy
import sys

from engine.sample_data import DASHBOARD


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "options",
        nargs="*",
        metavar="-- OPTION",
        help="options of `streamlit run`, after two dashes: -- --server.port 8600",
    )


def run(arguments: argparse.Namespace) -> None:
    """In this process, so that whatever ends it ends the server; exits with the server's code."""
    sys.argv = ["streamlit", "run", str(DASHBOARD), *arguments.options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
