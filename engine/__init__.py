"""Simulate and bound LLM serving under a KV-cache memory budget. Knows no browser."""

from engine.bound import Bound, gap
from engine.bound_method import METHODS, find_method, load_methods
from engine.demand.generate import generate
from engine.demand.scenario import Scenario
from engine.errors import InputError
from engine.policy import POLICIES, Policy, find_policy, load_policies, quick_policies
from engine.simulate.run import Run
from engine.traces import read_trace
from engine.workload import Workload

load_policies()
load_methods()

__all__ = [
    "METHODS",
    "POLICIES",
    "Bound",
    "InputError",
    "Policy",
    "Run",
    "Scenario",
    "Workload",
    "find_method",
    "find_policy",
    "gap",
    "generate",
    "quick_policies",
    "read_trace",
]
