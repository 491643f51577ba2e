"""What a server must achieve for a load to count as carried.

Two things: it keeps up, by the verdict of engine/measure/overload.py, and a percentile of the times
its users feel stays within their limits. The verdict always counts, for below its limits a
finite run of an overloaded server proves nothing: with more requests they would be passed.
A user who gives up or is turned away enters the percentiles as late without end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from engine.errors import InputError
from engine.fields import number_in
from engine.measure.overload import FEW, TOLERABLE, verdict
from engine.measure.slo import Slo, times_under_limits
from engine.simulate.run import Run
from engine.workload import Workload


@dataclass(frozen=True)
class Miss:
    """A percentile beside its limit.

    Attributes
    ----------
    name : of the time: `ttft`, `tpot` or `latency`
    of_class : whose; empty for all requests
    reached, limit : clock units; NaN where there is no such time
    """

    name: str
    of_class: str
    reached: float
    limit: float

    @property
    def excess(self) -> float:
        """What was reached as a multiple of the limit; 0 where there is nothing to miss."""
        if np.isnan(self.reached):
            return 0.0
        if self.limit > 0:
            return self.reached / self.limit
        return np.inf if self.reached > 0 else 0.0


@dataclass(frozen=True)
class Objective:
    """The limits on a percentile of all requests, and on those of single classes.

    Attributes
    ----------
    slo : for all requests together; without limits only the verdict counts
    by_class : (class name, limits) pairs, in addition
    percent : which percentile has to stay within the limits

    Raises
    ------
    InputError
        For a percentile that is none.
    """

    slo: Slo = field(default_factory=Slo)
    by_class: tuple[tuple[str, Slo], ...] = ()
    percent: float = 99.0

    def __post_init__(self) -> None:
        number_in("percentile", self.percent, 1, 100)

    @property
    def has_limits(self) -> bool:
        return any(slo.limits for slo in (self.slo, *(slo for _, slo in self.by_class)))

    @property
    def limits(self) -> dict[str, dict[str, float]]:
        """Those of `all`, and of each class by its name."""
        return {"all": self.slo.limits, **{name: slo.limits for name, slo in self.by_class}}

    def excess(self, run: Run) -> float:
        """The largest percentile as a multiple of its limit, at most 1 where all are kept.

        0 without limits. Infinite where so many were not served that the percentile is one of
        them. A class without requests, and requests of one token where TPOT is limited, cannot
        miss.
        """
        return max((miss.excess for miss in self._held_against(run)), default=0.0)

    def misses(self, run: Run) -> tuple[Miss, ...]:
        """The limits that the percentile of a run's times is above, the worst first."""
        missed = [miss for miss in self._held_against(run) if miss.excess > 1]
        return tuple(sorted(missed, key=lambda miss: -miss.excess))

    def _held_against(self, run: Run) -> Iterator[Miss]:
        times = times_under_limits(run)
        for of_class, slo, of in self._parts(run.workload):
            lost = self._lost(run, of_class)
            for name, limit in slo.limits.items():
                yield Miss(name, of_class, self.percentile(times[name][of], lost), limit)

    def _lost(self, run: Run, of_class: str) -> int:
        """How many were not served, of a class or (empty) of all."""
        if not of_class:
            return len(run.unserved)
        return int((run.unserved.class_of == run.workload.classes.index(of_class)).sum())

    def within(self, run: Run) -> np.ndarray:
        """(n,) bool: whose times are all within the limits for all and for their class."""
        times = times_under_limits(run)
        kept = np.ones(len(run.workload), bool)
        for _, slo, of in self._parts(run.workload):
            for name, limit in slo.limits.items():
                kept[of] &= ~(times[name][of] > limit)
        return kept

    def percentile(self, values: np.ndarray, lost: int = 0) -> float:
        """Of the known ones among (n,) values, and of so many that are late without end.

        NaN where there is none. Between two values linear, as numpy's; infinite where the upper is.
        """
        known = values[~np.isnan(values)]
        n = len(known) + lost
        if not n:
            return float("nan")
        if not lost:
            return float(np.percentile(known, self.percent))
        place = (n - 1) * self.percent / 100
        if math.ceil(place - 1e-9) >= len(known):
            return math.inf
        return float(np.percentile(known, 100 * place / max(1, len(known) - 1)))

    def met_by(self, run: Run) -> bool:
        """Whether the server keeps up and its users' times stay within the limits."""
        return keeps_up(run) and self.excess(run) <= 1

    def kept_by(self, run: Run) -> bool:
        """The same where the rate itself is known to be kept up with."""
        return len(run.unserved) <= TOLERABLE * run.offered and self.excess(run) <= 1

    def _parts(self, workload: Workload):
        """Each set of limits with the class and the requests it is for."""
        yield "", self.slo, slice(None)
        for name, slo in self.by_class:
            if name not in workload.classes:
                raise InputError(
                    f"an SLO is for the class {name}, but there are only: "
                    f"{', '.join(workload.classes)}"
                )
            yield name, slo, workload.class_of == workload.classes.index(name)


def keeps_up(run: Run) -> bool:
    """Whether the server is not overloaded by the verdict."""
    return verdict(run).keeps_up


def check_it_has_a_rate(workload: Workload) -> None:
    """InputError where requests do not come over time, or too few to judge."""
    if workload.concurrency:
        raise InputError("a closed loop waits for its servers and has no rate: leave it out")
    if np.ptp(workload.arrival) == 0:
        raise InputError("a backlog has no rate: choose arrivals over time, such as Poisson")
    if len(workload) < FEW:
        raise InputError(
            f"{len(workload)} requests are too few to tell what can be carried: take {FEW} or more"
        )
