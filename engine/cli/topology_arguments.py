"""The arguments that say how many servers there are and how requests come to them."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TypeVar

from engine.demand.scenario import Scenario
from engine.demand.source import Source
from engine.errors import InputError
from engine.fields import number_in
from engine.fleet import ROUTINGS, Topology, check_topology, read_pools
from engine.workload import Workload

Requested = TypeVar("Requested", Workload, Scenario, Source)


def add_topology_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--replicas", type=int, default=1, metavar="G", help="servers (default 1)")
    parser.add_argument(
        "--routing",
        metavar="KEY",
        default="round-robin",
        help=f"how requests are sent to replicas: {', '.join(ROUTINGS)}",
    )
    parser.add_argument(
        "--pools", metavar="P:D", help="P servers prefill and D decode, instead of --replicas"
    )
    parser.add_argument(
        "--transfer",
        type=float,
        default=0.0,
        metavar="X",
        help="time to move a token's KV cache from one pool to the other",
    )
    parser.add_argument(
        "--concurrency",
        type=int,
        default=0,
        metavar="N",
        help="a closed loop of N clients: arrivals in the trace are ignored",
    )


def read_topology(arguments: argparse.Namespace) -> Topology:
    """The servers that were asked for.

    Raises
    ------
    InputError
        Where the arguments contradict each other, and for numbers and names that cannot be.
    """
    topology = _asked(arguments)
    check_topology(topology)
    return topology


def _asked(arguments: argparse.Namespace) -> Topology:
    if arguments.pools is None:
        if arguments.transfer:
            raise InputError("--transfer is for pools: add --pools P:D")
        return Topology(arguments.replicas, arguments.routing)
    if arguments.replicas != 1:
        raise InputError("give either --replicas or --pools, not both")
    pools = read_pools(arguments.pools)
    return Topology(1, arguments.routing, pools, arguments.transfer)


def in_closed_loop(source: Requested, arguments: argparse.Namespace) -> Requested:
    """The requests, or what draws them, as `--concurrency` has it."""
    clients = number_in("--concurrency", arguments.concurrency, 0, 10**9, whole=True)
    return replace(source, concurrency=clients)
