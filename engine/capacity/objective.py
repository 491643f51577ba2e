"""What a server must achieve for a load to count as carried.

Two things: it keeps up, by the verdict of engine/measure/overload.py, and a percentile of the times
its users feel stays within their limits. The verdict always counts, for below its limits a
finite run of an overloaded server proves nothing: with more requests they would be passed.
A user who gives up or is turned away has missed every limit, so that many must be served.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.errors import InputError
from engine.fields import number_in
from engine.measure.overload import FEW, verdict
from engine.measure.slo import Slo, times_under_limits
from engine.simulate.run import Run
from engine.workload import Workload


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

    def excess(self, run: Run) -> float:
        """The largest percentile as a multiple of its limit, at most 1 where all are kept.

        0 without limits. Infinite where fewer were served than the percentile speaks of. A
        class without requests, and requests of one token where TPOT is limited, cannot miss.
        """
        if len(run.workload) < self.percent / 100 * run.offered:
            return np.inf
        times = times_under_limits(run)
        worst = 0.0
        for slo, mine in self._parts(run.workload):
            for name, limit in slo.limits.items():
                worst = max(worst, self._over(times[name][mine], limit))
        return worst

    def within(self, run: Run) -> np.ndarray:
        """(n,) bool: whose times are all within the limits for all and for their class."""
        times = times_under_limits(run)
        kept = np.ones(len(run.workload), bool)
        for slo, mine in self._parts(run.workload):
            for name, limit in slo.limits.items():
                kept[mine] &= ~(times[name][mine] > limit)
        return kept

    def percentile(self, values: np.ndarray) -> float:
        """Of the known ones among (n,) values; NaN where there is none."""
        known = values[~np.isnan(values)]
        return float(np.percentile(known, self.percent)) if len(known) else float("nan")

    def met_by(self, run: Run) -> bool:
        """Whether the server keeps up and its users' times stay within the limits."""
        return keeps_up(run) and self.excess(run) <= 1

    def _over(self, values: np.ndarray, limit: float) -> float:
        reached = self.percentile(values)
        if np.isnan(reached) or reached <= limit:
            return 0.0 if np.isnan(reached) or limit == 0 else reached / limit
        return reached / limit if limit > 0 else np.inf

    def _parts(self, workload: Workload):
        """Each set of limits with the requests it is for."""
        yield self.slo, slice(None)
        for name, slo in self.by_class:
            if name not in workload.classes:
                raise InputError(
                    f"an SLO is for the class {name}, but there are only: "
                    f"{', '.join(workload.classes)}"
                )
            yield slo, workload.class_of == workload.classes.index(name)


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
