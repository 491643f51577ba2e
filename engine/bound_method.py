"""Ways to bound and their registry: how the rows of a workload are made from its busy periods.

A method is one file in engine/bounds that declares itself with `bound_method`: it is then on the
command line, on the page Gap to bound and under the tests of every bound. Where it says how
it works and why to trust it, the page says so too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from engine.bound import NO_BOUND, Bound, Prices
from engine.errors import InputError
from engine.fields import number_in
from engine.machine.clock import ROUNDS, Clock
from engine.progress import Progress, silent
from engine.proof.busy_periods import BusyPeriod, busy_periods
from engine.proof.dual import evaluate, rounded_down
from engine.registry import modules_in
from engine.workload import Workload, check_memory, set_aside

MAX_REPLICAS = 100_000
TIME_LIMITS = (1e-3, 1e6)  # seconds
SPLITTING = 1e-6  # seconds a request


@dataclass(frozen=True)
class BoundWords:
    """A bound in the words of somebody who plans capacity and proves nothing.

    Attributes
    ----------
    what : what it does, a sentence or two
    why : what of it has to be believed, likewise
    """

    what: str
    why: str


@dataclass(frozen=True)
class BoundMethod:
    """A way to bound: what users call it, what it costs, and what it is.

    Attributes
    ----------
    compute : (workload, memory, ..) -> the bounds it finds, for requests that all fit; one
        for runs that kept their KV cache and one that covers every run, where both exist.
        It is given what it names of clock, replicas, progress and time_limit (seconds or
        None), and of share. In rounds it is asked for one busy period at a time, which
        begins in round 0 and has that share of the requests that are to be solved; `memory`
        is that of all replicas together.
    cost_at_once : seconds that takes for a workload in M, roughly; infinite where it is too large
    cost_on_gpu : the same on a clock in seconds, where it differs
    units : of the clocks it can speak of
    tells_both : always has both rows in rounds, also where they are the same
    words, words_on_gpu : what is said of it; on a clock in seconds, where it differs. None: its
        title and source
    is_exact : its value is attained by a schedule; sought only where that is asked for
    caps_prices : solves a relaxation whose optimum no prices of memory can pass
    """

    key: str
    title: str
    source: str
    compute: Callable[..., list[Bound]]
    cost_at_once: Callable[[Workload, int], float]
    units: tuple[str, ...] = ("rounds",)
    tells_both: bool = False
    cost_on_gpu: Callable[[Workload, int], float] | None = None
    words: BoundWords | None = None
    words_on_gpu: BoundWords | None = None
    is_exact: bool = False
    caps_prices: bool = False

    def in_words(self, clock: Clock) -> BoundWords:
        """What is said of its rows on this clock."""
        words = self.words if clock.is_rounds else self.words_on_gpu or self.words
        return words or BoundWords(
            f"{self.title}: {self.source}.", "Each of its values says how it was obtained."
        )

    def speaks(self, clock: Clock) -> bool:
        """Whether it can bound runs on this clock."""
        return clock.unit in self.units

    def check(self, clock: Clock) -> None:
        """InputError on a clock that this method does not speak of."""
        if not self.speaks(clock):
            able = ", ".join(key for key, method in METHODS.items() if method.speaks(clock))
            raise InputError(
                f"the bound {self.key} holds in {self.units[0]} only: in {clock.unit} use {able}"
            )

    def cost(self, workload: Workload, memory: int, clock: Clock = ROUNDS) -> float:
        """Seconds `bounds` takes, roughly, for requests that all fit; infinite if it cannot."""
        if not clock.is_rounds:
            return (self.cost_on_gpu or self.cost_at_once)(workload, memory)
        crowded = _crowded(busy_periods(workload, memory))
        return SPLITTING * len(workload) + sum(
            self.cost_at_once(period.workload, memory) for period in crowded
        )

    def bounds(
        self,
        workload: Workload,
        memory: int,
        clock: Clock = ROUNDS,
        replicas: int = 1,
        time_limit: float | None = None,
        progress: Progress = silent,
    ) -> list[Bound]:
        """The bounds for the requests that fit in M, those set aside left out as in a run.

        Parameters
        ----------
        memory : M of one replica, tokens
        replicas : over how many of them requests may be spread. In rounds a bound with the
            memory of all in one place holds for any way of spreading them.
        time_limit : seconds that solving may take, above 0; None: the method's own measure

        Raises
        ------
        InputError
            For a bad M or time limit, on a clock this method does not speak of, or where it
            cannot take so large a workload.
        """
        self.check(clock)
        fitting, _ = set_aside(workload, check_memory(memory))
        if workload.depends_on_run:
            raise InputError(NO_BOUND)
        replicas = number_in("replicas", replicas, 1, MAX_REPLICAS, whole=True)
        if time_limit is not None:
            time_limit = number_in("time limit (seconds)", time_limit, *TIME_LIMITS)
        if clock.is_rounds:
            rows = self._in_rounds(fitting, memory * replicas, progress, time_limit)
        else:
            rows = self.at_once(fitting, memory, progress, time_limit, clock, replicas)
        return [
            replace(row, clock=clock, replicas=replicas, requests=len(fitting), found_by=self.key)
            for row in rows
        ]

    def _in_rounds(self, workload, memory: int, progress: Progress, time_limit) -> list[Bound]:
        """The rows of every busy period, added up."""
        periods = busy_periods(workload, memory)
        requests = sum(len(period.workload) for period in _crowded(periods))
        rows, done = [], 0.0
        for period in periods:
            if not period.is_crowded:
                rows.append([_alone(self.key, period.workload, memory)])
                continue
            share = len(period.workload) / requests

            def of_all(part: float, what: str = "", done=done, share=share) -> None:
                progress(done + share * part, what)

            limit = time_limit and share * time_limit
            rows.append(self.at_once(period.workload, memory, of_all, limit, share=share))
            done += share
        return self._added(periods, rows)

    def _added(self, periods: list[BusyPeriod], rows: list[list[Bound]]) -> list[Bound]:
        """One row for runs that keep their KV cache, and one for every run where there is one.

        What holds for every run holds for those too: in a period where that is more, as it
        may be where the solver was stopped early, it counts in both.
        """
        kept = _sum(self.key, periods, [max(row, key=lambda bound: bound.value) for row in rows])
        if not self.tells_both and max(map(len, rows)) == 1:
            return [kept]
        every = _sum(f"{self.key}-preemptive", periods, [row[-1] for row in rows])
        return [replace(kept, covers_preemption=False), every]

    def at_once(
        self,
        workload: Workload,
        memory: int,
        progress: Progress = silent,
        time_limit: float | None = None,
        clock: Clock = ROUNDS,
        replicas: int = 1,
        share: float = 1.0,
    ) -> list[Bound]:
        """What the method finds for requests that all fit, without a cut at any rest."""
        offered = {
            "progress": progress,
            "time_limit": time_limit,
            "clock": clock,
            "replicas": replicas,
            "share": share,
        }
        named = inspect.signature(self.compute).parameters
        taken = {name: value for name, value in offered.items() if name in named}
        return self.compute(workload, memory, **taken)


def _crowded(periods: list[BusyPeriod]) -> list[BusyPeriod]:
    return [period for period in periods if period.is_crowded]


def _alone(key: str, workload: Workload, memory: int) -> Bound:
    """The bound for requests that all fit when each starts at once: nobody can do better."""
    nothing = evaluate(workload, memory, np.zeros(0))
    how = "every request starts as soon as it is there, as all fit in M"
    return Bound(key, nothing.value, True, True, how, (Prices(0, nothing.prices),))


def _sum(name: str, periods: list[BusyPeriod], parts: list[Bound]) -> Bound:
    """The bound of all parts together (engine/proof/busy_periods.py)."""
    proof = tuple(
        Prices(period.begin, prices.by_round)
        for period, part in zip(periods, parts, strict=True)
        for prices in part.prices or ()
    )
    hardest = max(range(len(parts)), key=lambda p: (periods[p].is_crowded, len(periods[p].which)))
    how = parts[hardest].method
    if len(parts) > 1:
        how = f"sum over {len(parts)} busy periods with rests between; the largest: {how}"
    return Bound(
        name,
        rounded_down(sum((Fraction(part.value) for part in parts), Fraction())),
        all(part.certified for part in parts),
        all(part.covers_preemption for part in parts),
        how,
        prices=proof if len(proof) == len(parts) else None,
        history=parts[0].history if len(parts) == 1 else (),
    )


METHODS: dict[str, BoundMethod] = {}


def bound_method(*, cost: Callable[[Workload, int], float], **declared):
    """Register the decorated function as a bound method; `cost` is that of one busy period."""

    def register(compute):
        method = BoundMethod(compute=compute, cost_at_once=cost, **declared)
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


def default_method(clock: Clock) -> BoundMethod:
    """The quickest method that speaks of the clock."""
    return find_method("fluid" if clock.is_rounds else "srpt")


def load_methods() -> None:
    """Import every file of engine/bounds, so that each registers itself."""
    modules_in("engine.bounds")
    in_order = sorted(METHODS.items())  # whichever file imported another first
    METHODS.clear()
    METHODS.update(in_order)
