"""What a lower bound is, when it may be shown beside a run, and the registry of methods.

A method is one file in engine/bounds that declares itself with `bound_method`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.workload import Workload, check_memory, set_aside


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no schedule of these requests can beat, and how that is known.

    Attributes
    ----------
    bound : the row's name: `fluid`, `fluid-preemptive`, `lp`, ...
    value : total latency in rounds, unrounded
    certified : proved for these requests; an uncertified value is never compared with a run
    covers_preemption : also holds for runs that gave up KV cache (DESIGN 3)
    method : one sentence: how the value was obtained and certified
    prices : (T,) float64, the price of a token of memory in rounds 0 .. T-1, where the
        value is the dual function at these prices and can be checked from them alone
    history : (seconds, value) as the bound was improved, where it was
    """

    bound: str
    value: float
    certified: bool
    covers_preemption: bool
    method: str
    prices: np.ndarray | None = None
    history: tuple[tuple[float, float], ...] = ()

    def covers(self, run: Run) -> bool:
        """Whether no run like this one can have a total latency below the value."""
        return self.certified and (self.covers_preemption or not run.gave_up_kv)


def best_cover(run: Run, bounds: Iterable[Bound]) -> Bound | None:
    """The largest of the bounds that cover the run, or None."""
    covering = [bound for bound in bounds if bound.covers(run)]
    return max(covering, key=lambda bound: bound.value, default=None)


def gap(run: Run, bounds: Iterable[Bound]) -> float | None:
    """Total latency over the largest covering bound (1.09 reads "+9 %"); None without one."""
    cover = best_cover(run, bounds)
    return None if cover is None else float(run.latency.sum() / cover.value)


@dataclass(frozen=True)
class BoundMethod:
    """A way to bound: what users call it and what it costs.

    Attributes
    ----------
    compute : (workload, memory, progress, time_limit) -> the bounds it finds, for requests
        that all fit; one for runs that kept their KV cache and one that covers every run,
        where both exist. `time_limit` is in seconds or None.
    cost : seconds it takes for a workload in M, roughly; infinite where it is too large
    """

    key: str
    title: str
    source: str
    compute: Callable[..., list[Bound]]
    cost: Callable[[Workload, int], float]

    def bounds(
        self,
        workload: Workload,
        memory: int,
        progress: Progress = silent,
        time_limit: float | None = None,
    ) -> list[Bound]:
        """The bounds for the requests that fit in M, those set aside left out as in a run.

        Raises
        ------
        InputError
            For a bad M, or where this method cannot take so large a workload.
        """
        fitting, _ = set_aside(workload, check_memory(memory))
        return self.compute(fitting, memory, progress, time_limit)


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
