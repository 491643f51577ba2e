"""Several servers: replicas behind a router, and pools that prefill and decode apart.

topology.py  how many servers there are, and how requests get to them
routing.py   who serves whom
replicas.py  one policy on several replicas
pools.py     prefill on some, decode on others
"""

from engine.fleet.pools import PoolRun, read_pools, run_pools
from engine.fleet.replicas import MOST_REPLICAS, FleetRun, run_fleet
from engine.fleet.routing import ROUTINGS
from engine.fleet.topology import ONE_SERVER, Topology

__all__ = [
    "MOST_REPLICAS",
    "ONE_SERVER",
    "ROUTINGS",
    "FleetRun",
    "PoolRun",
    "Topology",
    "read_pools",
    "run_fleet",
    "run_pools",
]
