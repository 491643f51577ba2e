"""Several servers: replicas behind a router, and pools that prefill and decode apart.

topology.py  how many servers there are, and how requests get to them
deployment.py  what serves: memory, clock and topology
routing.py   who serves whom
replicas.py  one policy on several replicas
pools.py     prefill on some, decode on others
"""

from engine.fleet.deployment import Deployment
from engine.fleet.pools import PoolSchedule, read_pools, run_pools
from engine.fleet.replicas import MOST_REPLICAS, FleetSchedule, check_topology, run_replicas
from engine.fleet.routing import ROUTINGS
from engine.fleet.topology import ONE_SERVER, Topology

__all__ = [
    "MOST_REPLICAS",
    "ONE_SERVER",
    "ROUTINGS",
    "Deployment",
    "FleetSchedule",
    "PoolSchedule",
    "Topology",
    "check_topology",
    "read_pools",
    "run_pools",
    "run_replicas",
]
