"""Simulate and bound LLM serving under a KV-cache memory budget. Knows no browser."""

import engine.arrow_pool  # noqa: F401 before all others, which import Arrow
from engine.bound import Bound, gap
from engine.bound_method import METHODS, find_method, load_methods
from engine.choice import Choice
from engine.demand.generate import generate
from engine.demand.scenario import Scenario
from engine.errors import InputError
from engine.experiment import Comparison, Experiment, compare
from engine.fleet import Deployment, Topology
from engine.machine.clock import ROUNDS, seconds_clock
from engine.policy import POLICIES, Policy, find_policy, load_policies, quick_policies
from engine.simulate.run import Run
from engine.traces import read_trace
from engine.workload import Workload

load_policies()
load_methods()

__all__ = [
    "METHODS",
    "POLICIES",
    "ROUNDS",
    "Bound",
    "Choice",
    "Comparison",
    "Deployment",
    "Experiment",
    "InputError",
    "Policy",
    "Run",
    "Scenario",
    "Topology",
    "Workload",
    "compare",
    "find_method",
    "find_policy",
    "gap",
    "generate",
    "quick_policies",
    "read_trace",
    "seconds_clock",
]
