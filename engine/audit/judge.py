"""One window judged: what each policy costs in it, what was measured, and the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.audit.windows import Window
from engine.bound import Bound, best_cover
from engine.bound_method import BoundMethod, find_method
from engine.errors import InputError
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.measure.league import label_of
from engine.measure.overload import Verdict, too_much
from engine.policy import Policy
from engine.progress import Progress, silent
from engine.workload import Workload, set_aside

MEASURED = "measured"

Pick = tuple[Policy, dict]  # a policy and the parameters that are not at their default


@dataclass(frozen=True, eq=False)
class WindowFinding:
    """What one schedule did in one window.

    Attributes
    ----------
    policy : its key, or `measured`
    requests : how many of the window's it speaks of
    cost : their total latency, clock units
    bound : what no schedule like it can beat on the same requests, without the prices that
        proved it; None without one
    """

    policy: str
    requests: int
    cost: float
    bound: Bound | None

    def __post_init__(self) -> None:
        if self.bound is not None:  # its prices, a number a round, would fill a day's memory
            object.__setattr__(self, "bound", replace(self.bound, prices=None, history=()))

    @property
    def certified(self) -> bool:
        return self.bound is not None and self.bound.value > 0

    @property
    def gap(self) -> float | None:
        """Cost over bound, 1.09 for +9 %."""
        return self.cost / self.bound.value if self.certified else None

    @property
    def excess(self) -> float:
        """Clock units above the bound."""
        return self.cost - self.bound.value if self.certified else 0.0


@dataclass(frozen=True, eq=False)
class Judged:
    """One window's findings.

    Attributes
    ----------
    number, begin, end : as the window's
    requests : the window's
    findings : by label: `svf`, `svf skip=5`, `measured`
    failed : why a policy has no run here, by label
    """

    number: int
    begin: float
    end: float
    requests: int
    findings: dict[str, WindowFinding]
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AuditPlan:
    """How windows are judged, the same for all.

    Attributes
    ----------
    picks : the policies to replay
    memory : M of one replica, tokens
    clock, topology : on what they run
    methods : how to bound
    """

    picks: Sequence[Pick]
    memory: int
    clock: Clock = ROUNDS
    topology: Topology = ONE_SERVER
    methods: Sequence[BoundMethod] = ()

    def seconds(self, window: Window) -> float:
        """How long a window takes, roughly."""
        n = len(window.workload)
        runs = sum(self.topology.cost(policy, n) for policy, _ in self.picks)
        servers = self.memory * self.topology.servers
        return runs + sum(
            method.cost(window.workload, servers, self.clock) for method in self.methods
        )

    def overload(self, workload: Workload) -> Verdict | None:
        """That a whole trace asks for more than there is, whatever the policy; else None."""
        fitting, _ = set_aside(workload, self.memory)
        return too_much(fitting, self.memory, self.clock, self.topology.servers)

    def judge(self, window: Window, progress: Progress = silent) -> Judged:
        """Serve the window under every policy, from an empty server, and bound it."""
        bounds: dict[str, list[Bound]] = {}
        findings, failed = {}, {}

        def bounded(workload: Workload) -> list[Bound]:
            if workload.digest not in bounds:
                bounds[workload.digest] = self._bounds(workload)
            return bounds[workload.digest]

        for number, (policy, params) in enumerate(self.picks):
            progress(number / (len(self.picks) + 1), f"{policy.key} in window {window.number + 1}")
            try:
                run = self.topology.run(
                    policy, window.workload, self.memory, clock=self.clock, **params
                )
            except InputError as problem:  # such as a livelock; the other policies go on
                failed[_label(policy, params)] = str(problem)
                continue
            # A policy may set aside more than M asks for, as one with blocks does.
            cover = best_cover(run, bounded(run.workload))
            findings[label_of(run)] = WindowFinding(
                policy.key, len(run.workload), float(run.latency.sum()), cover
            )
        if (measured := _measured(window)) is not None:
            which, cost = measured
            seen = window.workload if which.all() else window.workload.take(which)
            findings[MEASURED] = WindowFinding(
                MEASURED, len(seen), cost, _covers_anything(bounded(seen))
            )
        return Judged(
            window.number, window.begin, window.end, len(window.workload), findings, failed
        )

    def _bounds(self, workload: Workload) -> list[Bound]:
        return [
            bound
            for method in self.methods
            for bound in method.bounds(
                workload, self.memory, clock=self.clock, replicas=self.topology.servers
            )
        ]


def _label(policy: Policy, params: dict) -> str:
    return " ".join([policy.key, *(f"{name}={value:g}" for name, value in params.items())])


def _measured(window: Window) -> tuple[np.ndarray, float] | None:
    """Whose latency is known, and the sum; None where nobody's is."""
    if window.measured is None:
        return None
    known = np.isfinite(window.measured)
    return (known, float(window.measured[known].sum())) if known.any() else None


def _covers_anything(bounds: Sequence[Bound]) -> Bound | None:
    """The largest bound that holds whatever a server did: preempt, recompute, cut prompts."""
    covering = [
        bound
        for bound in bounds
        if bound.certified and bound.covers_preemption and bound.covers_cut_prompts
    ]
    return max(covering, key=lambda bound: bound.value, default=None)


def default_methods(clock: Clock) -> list[BoundMethod]:
    """What bounds a window well in little time; `prices` in rounds is better and takes longer."""
    return [find_method(key) for key in (("fluid",) if clock.is_rounds else ("srpt", "prices"))]
