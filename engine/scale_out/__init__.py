"""Sweeps: many independent pieces of work, on this machine's cores or on a cluster.

Every sweep of the engine goes through `run_all`; there is no other pool. Where the pieces run
changes when they are done, and nothing else: the results are the same bytes.
"""

from engine.scale_out.run_all import CORES, HERE, SCHEDULER, run_all, where
from engine.scale_out.sweep import Sweep

__all__ = ["CORES", "HERE", "SCHEDULER", "Sweep", "run_all", "where"]
