"""What a lower bound is, and when it may be shown beside a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.machine.clock import ROUNDS, Clock
from engine.proof.work.proof import MachinePrices
from engine.simulate.run import Run

NO_BOUND = (
    "a closed loop, patience and a queue limit have no bound: who is served depends on the policy"
)
AGREE = 1e-4  # relative difference of bounds that are the same to the digits shown


@dataclass(frozen=True, eq=False)
class Prices:
    """What a token of memory costs in one busy period.

    Attributes
    ----------
    begin : the round from which it counts; its requests arrive from then to the next's begin
    by_round : (T,) float64, the price in rounds begin .. begin + T - 1
    """

    begin: int
    by_round: np.ndarray


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no schedule of these requests can beat, and how that is known.

    Attributes
    ----------
    bound : the row's name: `fluid`, `fluid-preemptive`, `lp`, ...
    value : total latency in the clock's unit, unrounded
    certified : proved for these requests; an uncertified value is never compared with a run
    covers_preemption : also holds for runs that gave up KV cache (docs/model.md 3)
    method : one sentence: how the value was obtained and certified
    prices : where the value is the dual function at prices, those of every busy period in order
        of time: it can be checked from them alone. None where it was proved otherwise
    history : (seconds, value) as the bound was improved, where it was
    covers_cut_prompts : also holds for runs that prefilled a prompt in chunks; every bound
        in rounds does, as chunks cost no more rounds than they hold memory
    clock : the one it speaks of, coefficients and all; runs on another are not covered
    replicas : over how many the requests may be spread; runs on more are not covered
    machine_prices : the same in seconds, where its prices are of machine time, by parts of the
        requests in order of time
    requests : how many it speaks of; a run that set more of them aside is not covered. None:
        of those of any run it is held against
    found_by : the key of the method whose row it is
    """

    bound: str
    value: float
    certified: bool
    covers_preemption: bool
    method: str
    prices: tuple[Prices, ...] | None = None
    history: tuple[tuple[float, float], ...] = ()
    covers_cut_prompts: bool = True
    clock: Clock = ROUNDS
    replicas: int = 1
    requests: int | None = None
    machine_prices: tuple[MachinePrices, ...] | None = None
    found_by: str = ""

    @property
    def is_priced(self) -> bool:
        """Whether its prices alone prove it."""
        return self.prices is not None or self.machine_prices is not None

    @property
    def unit(self) -> str:
        """What its value is in."""
        return self.clock.unit

    def covers(self, run: Run) -> bool:
        """Whether no run like this one can have a total latency below the value."""
        return (
            self.certified
            and self.clock == run.clock
            and self.replicas >= run.replicas
            and self.requests in (None, len(run.workload))
            and not run.workload.depends_on_run
            and (self.covers_preemption or not run.gave_up_kv)
            and (self.covers_cut_prompts or not run.cut_prompts)
        )


def best_cover(run: Run, bounds: Iterable[Bound]) -> Bound | None:
    """The largest of the bounds that cover the run, or None.

    Of those that agree to the digits shown, one that also covers runs that give up KV cache:
    it says more.
    """
    covering = [bound for bound in bounds if bound.covers(run)]
    largest = max((bound.value for bound in covering), default=0.0)
    best = [bound for bound in covering if bound.value >= (1 - AGREE) * largest]
    return max(best, key=lambda bound: (bound.covers_preemption, bound.value), default=None)


def gap(run: Run, bounds: Iterable[Bound]) -> float | None:
    """Total latency over the largest covering bound (1.09 reads "+9 %"); None without one.

    A bound of 0 is none: there are clocks on which small rounds take no time.
    """
    cover = best_cover(run, bounds)
    return float(run.latency.sum() / cover.value) if cover and cover.value > 0 else None
