"""Service-level objectives: limits on what users feel, and who gets served within them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.fields import number_in
from engine.measure.league import Entry
from engine.measure.times import REQUEST_TIMES
from engine.simulate.run import Run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Slo:
    """Limits in clock units; None where there is none.

    Attributes
    ----------
    ttft : time to first token
    tpot : mean time per output token after the first
    latency : end to end
    """

    ttft: float | None = None
    tpot: float | None = None
    latency: float | None = None

    def __post_init__(self) -> None:
        for name, limit in self.limits.items():
            number_in(f"SLO on {name}", limit, 0, 1e12)

    @property
    def limits(self) -> dict[str, float]:
        """The limits there are, by name."""
        named = {"ttft": self.ttft, "tpot": self.tpot, "latency": self.latency}
        return {name: limit for name, limit in named.items() if limit is not None}


def times_under_limits(run: Run) -> dict[str, np.ndarray]:
    """The (n,) times that limits speak of, by the same names."""
    return {time.name: time.of(run) for time in REQUEST_TIMES if time.is_limited}


def attained(run: Run, slo: Slo) -> dict[str, np.ndarray]:
    """Per limit the (n,) bool of who stays within it, and `all` of them together.

    A request of one token has no time per output token and cannot miss a limit on it.
    """
    times = times_under_limits(run)
    within = {name: ~(times[name] > limit) for name, limit in slo.limits.items()}
    everything = np.ones(len(run.workload), bool)
    for mask in within.values():
        everything &= mask
    return {**within, "all": everything}


def attainment_table(entries: Sequence[Entry], slo: Slo) -> pd.DataFrame:
    """One row an entry: the shares of requests within each limit and within all, and goodput.

    Those who gave up or were turned away have missed every limit.

    Columns: policy, one share a limit, all, and goodput: requests served within all limits
    in a clock unit, up to the makespan.
    """
    import pandas as pd  # slow to import

    rows = []
    for entry in entries:
        within = attained(entry.run, slo)
        goodput = within["all"].sum() / entry.numbers["makespan"]
        offered = entry.run.offered
        shares = {name: float(mask.sum() / offered) for name, mask in within.items()}
        rows.append({"policy": entry.label, **shares, "goodput": float(goodput)})
    return pd.DataFrame(rows)
