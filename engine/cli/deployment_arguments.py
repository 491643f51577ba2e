"""The arguments that say what serves: M, the clock, and how many servers."""

from __future__ import annotations

import argparse

from engine.cli.clock_arguments import read_clock
from engine.cli.engine_argument import read_engine_argument
from engine.cli.topology_arguments import read_topology
from engine.fleet import ONE_SERVER, Deployment


def read_deployment(arguments: argparse.Namespace) -> Deployment:
    """What was asked for; InputError where the arguments contradict each other."""
    has_topology = hasattr(arguments, "routing")
    topology = read_topology(arguments) if has_topology else ONE_SERVER
    engine = read_engine_argument(arguments)
    return Deployment(arguments.memory, read_clock(arguments), topology, engine)
