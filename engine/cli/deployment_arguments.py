"""The arguments that say what serves: M, the clock, and how many servers."""

from __future__ import annotations

import argparse

from engine.cli.clock_arguments import read_clock
from engine.cli.engine_argument import read_engine_argument
from engine.cli.remarks import remark
from engine.cli.topology_arguments import read_topology
from engine.fleet import ONE_SERVER, Deployment
from engine.machine.hardware import find_preset, memory_doubt


def read_deployment(arguments: argparse.Namespace) -> Deployment:
    """What was asked for; InputError where the arguments contradict each other.

    An M that the GPUs named can hardly have is remarked.
    """
    has_topology = hasattr(arguments, "routing")
    topology = read_topology(arguments) if has_topology else ONE_SERVER
    engine = read_engine_argument(arguments)
    deployment = Deployment(arguments.memory, read_clock(arguments), topology, engine)
    if arguments.hardware is not None:
        doubt = memory_doubt(deployment.memory, find_preset(arguments.hardware))
        remark(arguments, [doubt] if doubt else [])
    remark(arguments, deployment.engine.remarks)
    return deployment
