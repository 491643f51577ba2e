"""Simulate and bound LLM serving under a KV-cache memory budget. Knows no browser.

Each name is imported when it is first asked for, so that a command imports only what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

import engine.arrow_pool  # noqa: F401 before all others, which import Arrow

if TYPE_CHECKING:
    from engine.bound import Bound, gap
    from engine.bound_method import METHODS, find_method
    from engine.choice import Choice
    from engine.demand.generate import generate
    from engine.demand.scenario import Scenario
    from engine.errors import InputError
    from engine.experiment import Comparison, Experiment, compare  # type: ignore[no-redef]  # not the module
    from engine.fleet import Deployment, Topology
    from engine.machine.clock import ROUNDS, seconds_clock
    from engine.policy import POLICIES, Policy, find_policy, quick_policies
    from engine.simulate.run import Run
    from engine.traces import read_trace
    from engine.workload import Workload

_PLACES = {
    "bound": ("Bound", "gap"),
    "bound_method": ("METHODS", "find_method"),
    "choice": ("Choice",),
    "demand.generate": ("generate",),
    "demand.scenario": ("Scenario",),
    "errors": ("InputError",),
    "experiment": ("Comparison", "Experiment", "compare"),
    "fleet": ("Deployment", "Topology"),
    "machine.clock": ("ROUNDS", "seconds_clock"),
    "policy": ("POLICIES", "Policy", "find_policy", "quick_policies"),
    "simulate.run": ("Run",),
    "traces": ("read_trace",),
    "workload": ("Workload",),
}
_PLACE_OF = {name: f"engine.{place}" for place, names in _PLACES.items() for name in names}

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


def __getattr__(name: str):
    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PLACE_OF[name]), name)
    globals()[name] = value
    return value
