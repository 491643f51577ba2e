"""Ways to bound and their registry: how the rows of a workload are made from its busy periods.

A method is one file in engine/bounds that declares itself with `bound_method`: it is then on the
command line, on the page Gap to bound and under the tests of every bound. Where it says how
it works and why to trust it, the page says so too.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from engine.bound import NO_BOUND, Bound, Prices
from engine.errors import InputError
from engine.fields import number_in
from engine.machine.clock import ROUNDS, Clock
from engine.progress import Progress, silent
from engine.proof.busy_periods import BusyPeriod, between_rests, busy_periods
from engine.proof.dual import evaluate, rounded_down
from engine.registry import Registry
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
        parts = _crowded(busy_periods(workload, memory))
        if not self.is_exact:
            finer = [between_rests(period, memory) for period in parts]
            parts += [part for cut in finer if len(cut) > 1 for part in _crowded(cut)]
        return SPLITTING * len(workload) + sum(
            self.cost_at_once(part.workload, memory) for part in parts
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
        """The rows of every busy period added up, each period cut in the way that gives the most.

        One row for runs that keep their KV cache, and one for every run where there is one. What
        holds for every run holds for those too: in a part where that is more, as it may be where
        the solver was stopped early, it counts in both.
        """
        kept, every = _Parts([], []), _Parts([], [])
        for period, listener, share in _in_turn(busy_periods(workload, memory), progress):
            limit = time_limit and share * time_limit
            ways = self._ways(period, memory, listener, limit, share)
            kept += max(ways, key=lambda way: way.value(_largest))
            every += max(ways, key=lambda way: way.value(_last))
        most = kept.added(self.key, _largest)
        if not self.tells_both and all(len(row) == 1 for row in kept.rows + every.rows):
            return [most]
        last = every.added(f"{self.key}-preemptive", _last)
        return [replace(most, covers_preemption=False), last]

    def _ways(self, period: BusyPeriod, memory: int, progress, time_limit, share) -> list[_Parts]:
        """A busy period as it is and, if a fluid rests in it, cut there: all that is found."""
        finer = between_rests(period, memory) if period.is_crowded and not self.is_exact else []
        if len(finer) < 2:
            return [self._rows([period], memory, progress, time_limit, share)]

        begun = time.monotonic()
        whole = self._rows([period], memory, _halved(progress, 0.0), time_limit, share)
        left = time_limit and time_limit - (time.monotonic() - begun)
        if left is not None and left < TIME_LIMITS[0]:
            return [whole]
        return [whole, self._rows(finer, memory, _halved(progress, 0.5), left, share)]

    def _rows(self, parts: list[BusyPeriod], memory: int, progress, time_limit, share) -> _Parts:
        """What is found for each part by itself."""
        rows = []
        for part, listener, of_all in _in_turn(parts, progress):
            if part.is_crowded:
                limit = time_limit and of_all * time_limit
                row = self.at_once(part.workload, memory, listener, limit, share=of_all * share)
            else:
                row = [_alone(self.key, part.workload, memory)]
            rows.append(row)
        return _Parts(parts, rows)

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


@dataclass(frozen=True, eq=False)
class _Parts:
    """Some requests in parts, in order of time, and the rows that were found for each part."""

    periods: list[BusyPeriod]
    rows: list[list[Bound]]

    def __add__(self, other: _Parts) -> _Parts:
        return _Parts(self.periods + other.periods, self.rows + other.rows)

    def value(self, of: Callable[[list[Bound]], Bound]) -> Fraction:
        """Of one row of each part, the sum."""
        return sum((Fraction(of(row).value) for row in self.rows), Fraction())

    def added(self, name: str, of: Callable[[list[Bound]], Bound]) -> Bound:
        """The bound of all parts together (engine/proof/busy_periods.py)."""
        bounds = [of(row) for row in self.rows]
        proof = tuple(
            Prices(period.begin, prices.by_round)
            for period, bound in zip(self.periods, bounds, strict=True)
            for prices in bound.prices or ()
        )
        sizes = [(period.is_crowded, len(period.which)) for period in self.periods]
        how = bounds[sizes.index(max(sizes))].method
        if len(bounds) > 1:
            how = f"sum over {len(bounds)} busy periods with rests between; the largest: {how}"
        return Bound(
            name,
            rounded_down(self.value(of)),
            all(bound.certified for bound in bounds),
            all(bound.covers_preemption for bound in bounds),
            how,
            prices=proof if len(proof) == len(bounds) else None,
            history=bounds[0].history if len(bounds) == 1 else (),
        )


def _largest(row: list[Bound]) -> Bound:
    return max(row, key=lambda bound: bound.value)


def _last(row: list[Bound]) -> Bound:
    """The one for every run, where there is one."""
    return row[-1]


def _in_turn(parts: list[BusyPeriod], progress: Progress):
    """Each part with its own report and its share of the requests that are to be solved."""
    requests = sum(len(part.which) for part in _crowded(parts))
    done = 0.0
    for part in parts:
        share = len(part.which) / requests if part.is_crowded else 0.0

        def told(of_it: float, what: str = "", done=done, share=share) -> None:
            progress(done + share * of_it, what)

        yield part, told, share
        done += share


def _halved(progress: Progress, begin: float) -> Progress:
    """The report of what takes half of the work, from `begin` on."""
    return lambda share, what="": progress(begin + share / 2, what)


def _crowded(periods: list[BusyPeriod]) -> list[BusyPeriod]:
    return [period for period in periods if period.is_crowded]


def _alone(key: str, workload: Workload, memory: int) -> Bound:
    """The bound for requests that all fit when each starts at once: nobody can do better."""
    nothing = evaluate(workload, memory, np.zeros(0))
    how = "every request starts as soon as it is there, as all fit in M"
    return Bound(key, nothing.value, True, True, how, (Prices(0, nothing.prices),))


METHODS: Registry[BoundMethod] = Registry("engine.bounds", "bound methods")


def bound_method(*, cost: Callable[[Workload, int], float], **declared):
    """Register the decorated function as a bound method; `cost` is that of one busy period."""

    def register(compute):
        method = BoundMethod(compute=compute, cost_at_once=cost, **declared)
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
