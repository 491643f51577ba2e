"""What a lower bound is, when it may be shown beside a run, and the registry of methods.

A method is one file in engine/bounds that declares itself with `bound_method`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from engine.clock import ROUNDS, Clock
from engine.errors import InputError
from engine.fields import number_in
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.workload import Workload, check_memory, set_aside

MAX_REPLICAS = 100_000


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no schedule of these requests can beat, and how that is known.

    Attributes
    ----------
    bound : the row's name: `fluid`, `fluid-preemptive`, `lp`, ...
    value : total latency in the clock's unit, unrounded
    certified : proved for these requests; an uncertified value is never compared with a run
    covers_preemption : also holds for runs that gave up KV cache (DESIGN 3)
    method : one sentence: how the value was obtained and certified
    prices : (T,) float64, the price of a token of memory in rounds 0 .. T-1, where the
        value is the dual function at these prices and can be checked from them alone
    history : (seconds, value) as the bound was improved, where it was
    covers_cut_prompts : also holds for runs that prefilled a prompt in chunks; every bound
        in rounds does, as chunks cost no more rounds than they hold memory
    clock : the one it speaks of, coefficients and all; runs on another are not covered
    """

    bound: str
    value: float
    certified: bool
    covers_preemption: bool
    method: str
    prices: np.ndarray | None = None
    history: tuple[tuple[float, float], ...] = ()
    covers_cut_prompts: bool = True
    clock: Clock = ROUNDS

    def covers(self, run: Run) -> bool:
        """Whether no run like this one can have a total latency below the value."""
        return (
            self.certified
            and self.clock == run.clock
            and (self.covers_preemption or not run.gave_up_kv)
            and (self.covers_cut_prompts or not run.cut_prompts)
        )


def best_cover(run: Run, bounds: Iterable[Bound]) -> Bound | None:
    """The largest of the bounds that cover the run, or None."""
    covering = [bound for bound in bounds if bound.covers(run)]
    return max(covering, key=lambda bound: bound.value, default=None)


def gap(run: Run, bounds: Iterable[Bound]) -> float | None:
    """Total latency over the largest covering bound (1.09 reads "+9 %"); None without one.

    A bound of 0 is none: there are clocks on which small rounds take no time.
    """
    cover = best_cover(run, bounds)
    return float(run.latency.sum() / cover.value) if cover and cover.value > 0 else None


@dataclass(frozen=True)
class BoundMethod:
    """A way to bound: what users call it and what it costs.

    Attributes
    ----------
    compute : (workload, memory, ..) -> the bounds it finds, for requests that all fit; one
        for runs that kept their KV cache and one that covers every run, where both exist.
        It is given what it names of clock, replicas, progress and time_limit (seconds or
        None). In rounds `memory` is that of all replicas together.
    cost : seconds it takes for a workload in M, roughly; infinite where it is too large
    units : of the clocks it can speak of
    """

    key: str
    title: str
    source: str
    compute: Callable[..., list[Bound]]
    cost: Callable[[Workload, int], float]
    units: tuple[str, ...] = ("rounds",)

    def speaks(self, clock: Clock) -> bool:
        """Whether it can bound runs on this clock."""
        return clock.unit in self.units

    def bounds(
        self,
        workload: Workload,
        memory: int,
        progress: Progress = silent,
        time_limit: float | None = None,
        clock: Clock = ROUNDS,
        replicas: int = 1,
    ) -> list[Bound]:
        """The bounds for the requests that fit in M, those set aside left out as in a run.

        Parameters
        ----------
        memory : M of one replica, tokens
        replicas : over how many of them requests may be spread. In rounds a bound with the
            memory of all in one place holds for any way of spreading them.

        Raises
        ------
        InputError
            For a bad M, on a clock this method does not speak of, or where it cannot take
            so large a workload.
        """
        if not self.speaks(clock):
            able = ", ".join(key for key, method in METHODS.items() if method.speaks(clock))
            raise InputError(
                f"the bound {self.key} holds in {self.units[0]} only: in {clock.unit} use {able}"
            )
        fitting, _ = set_aside(workload, check_memory(memory))
        if workload.concurrency:
            raise InputError("a closed loop has no bound: its arrivals depend on the policy")
        replicas = number_in("replicas", replicas, 1, MAX_REPLICAS, whole=True)
        offered = {
            "progress": progress,
            "time_limit": time_limit,
            "clock": clock,
            "replicas": replicas,
        }
        wanted = inspect.signature(self.compute).parameters
        given = {name: value for name, value in offered.items() if name in wanted}
        pooled = memory * replicas if clock.is_rounds else memory
        return [replace(row, clock=clock) for row in self.compute(fitting, pooled, **given)]


METHODS: dict[str, BoundMethod] = {}


def bound_method(**declared):
    """Register the decorated function as a bound method."""

    def register(compute):
        method = BoundMethod(compute=compute, **declared)
        if method.key in METHODS:
            raise ValueError(f"two bound methods are called {method.key}")
        METHODS[method.key] = method
        return compute

    return register


def find_method(key: str) -> BoundMethod:
    """The bound method called `key`; InputError names the ones there are."""
    if key not in METHODS:
        raise InputError(f"unknown bound {key}: choose from {', '.join(METHODS)}")
    return METHODS[key]


def load_methods() -> None:
    """Import every file of engine/bounds, so that each registers itself."""
    import engine.bounds as folder

    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"engine.bounds.{module.name}")
