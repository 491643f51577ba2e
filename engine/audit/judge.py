"""One window judged: what each policy costs in it, what was measured, and the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.audit.windows import Window
from engine.bound import Bound, best_cover
from engine.bound_method import BoundMethod, find_method
from engine.choice import Choice
from engine.errors import InputError
from engine.fleet import Deployment
from engine.machine.clock import Clock
from engine.measure.overload import Verdict, too_much
from engine.measure.set_aside import SetAside
from engine.progress import Progress, silent
from engine.workload import Workload, set_aside

MEASURED = "measured"


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
    def least(self) -> float | None:
        """What no schedule can beat, clock units; None unless that is certified."""
        return self.bound.value if self.bound is not None and self.bound.value > 0 else None

    @property
    def certified(self) -> bool:
        return self.least is not None

    @property
    def gap(self) -> float | None:
        """Cost over bound, 1.09 for +9 %."""
        return None if self.least is None else self.cost / self.least

    @property
    def excess(self) -> float:
        """Clock units above the bound."""
        return 0.0 if self.least is None else self.cost - self.least


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


@dataclass(frozen=True)
class AuditPlan:
    """How windows are judged, the same for all.

    Attributes
    ----------
    deployment : what serves them
    choices : the policies to replay
    methods : the keys of how to bound
    """

    deployment: Deployment
    choices: tuple[Choice, ...]
    methods: tuple[str, ...] = ()

    def seconds(self, window: Window) -> float:
        """How long a window takes, roughly."""
        workload = window.workload
        runs = sum(self.deployment.seconds(choice, len(workload)) for choice in self.choices)
        bounds = (self.deployment.bound_seconds(method, workload) for method in self._bounding)
        return runs + sum(bounds)

    def overload(self, workload: Workload) -> Verdict | None:
        """That a whole trace asks for more than there is, whatever the policy; else None."""
        fitting, _ = set_aside(workload, self.deployment.room)
        return too_much(fitting, self.deployment)

    def aside(self, workload: Workload) -> SetAside:
        """How many requests of a whole trace never run."""
        return SetAside.of(workload, self.deployment.room)

    def judge(self, window: Window, progress: Progress = silent) -> Judged:
        """Serve the window under every policy, from an empty server, and bound it."""
        by_requests: dict[str, list[Bound]] = {}
        findings, failed = {}, {}

        def bounds_of(workload: Workload) -> list[Bound]:
            if workload.digest not in by_requests:
                by_requests[workload.digest] = self.deployment.all_bounds(self._bounding, workload)
            return by_requests[workload.digest]

        for number, choice in enumerate(self.choices):
            share = number / (len(self.choices) + 1)
            progress(share, f"{choice.key} in window {window.number + 1}")
            try:
                run = self.deployment.run(choice, window.workload)
            except InputError as problem:  # such as a livelock; the other policies go on
                failed[choice.label] = str(problem)
                continue
            # A policy may set aside more than M asks for, as one with blocks does.
            cover = best_cover(run, bounds_of(run.workload))
            findings[choice.label] = WindowFinding(
                choice.key, len(run.workload), float(run.latency.sum()), cover
            )
        if (measured := _measured(window)) is not None:
            which, cost = measured
            seen = window.workload if which.all() else window.workload.take(which)
            cover = _covers_anything(bounds_of(seen))
            findings[MEASURED] = WindowFinding(MEASURED, len(seen), cost, cover)
        return Judged(
            window.number, window.begin, window.end, len(window.workload), findings, failed
        )

    def judge_all(
        self, windows: Sequence[Window], progress: Progress = silent
    ) -> tuple[Judged, ...]:
        """Every window, one after another."""
        judged = []
        for number, window in enumerate(windows):

            def in_all(share: float, what: str = "", number=number) -> None:
                progress((number + share) / len(windows), what)

            judged.append(self.judge(window, in_all))
        return tuple(judged)

    @property
    def _bounding(self) -> list[BoundMethod]:
        return [find_method(key) for key in self.methods]


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


def default_methods(clock: Clock) -> tuple[str, ...]:
    """What bounds a window well in little time; `prices` in rounds is better and takes longer."""
    return ("fluid",) if clock.is_rounds else ("srpt", "prices")
