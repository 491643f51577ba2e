"""The same kind of requests, drawn with several seeds and arriving at any rate.

A scenario is drawn anew with each seed; a new rate only stretches its arrivals
(engine/demand/generate.py), so that one seed's outcomes differ by the rate alone. Requests that
were written down or logged are one draw, whose arrivals are stretched; where more of them are
needed they are played again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.capacity.objective import check_it_has_a_rate
from engine.demand.generate import generate
from engine.demand.scenario import MAX_REQUESTS, RANGES, Scenario
from engine.demand.source import Source, requests_of
from engine.fields import number_in
from engine.workload import Workload

SEEDS = 4
MOST_SEEDS = 50
STEADY = 10_000  # requests to a server that show whether it keeps up for good
MOST_DRAWN = 200_000  # requests for one simulation of several servers


@dataclass(frozen=True)
class Draws:
    """What arrives.

    Attributes
    ----------
    source : a scenario, or requests
    how_many : draws of a scenario, with its seed and those that follow it

    Raises
    ------
    InputError
        Where the requests do not arrive over time, or are too few.
    """

    source: Source
    how_many: int = SEEDS

    def __post_init__(self) -> None:
        number_in("seeds", self.how_many, 1, MOST_SEEDS, whole=True)
        check_it_has_a_rate(self.present)

    def __reduce__(self):
        """Pickled as what is drawn from: the requests are drawn again from it."""
        return Draws, (self.source, self.how_many)

    @cached_property
    def present(self) -> Workload:
        """The requests at the present rate, with the first seed."""
        return requests_of(self.source)

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """One draw each; a single one for requests that were logged."""
        if isinstance(self.source, Workload):
            return (0,)
        return tuple((self.source.seed + k) % 2**32 for k in range(self.how_many))

    @cached_property
    def rate(self) -> float:
        """The present rate: the scenario's, or the requests' own."""
        if isinstance(self.source, Scenario):
            return self.source.rate
        return (len(self.source) - 1) / float(np.ptp(self.source.arrival))

    def reaches(self, rate: float) -> bool:
        """Whether requests can be drawn at this rate."""
        low, high = map(float, RANGES["rate"][:2])
        if isinstance(self.source, Scenario) and self.source.horizon is not None:
            high = min(high, MAX_REQUESTS / self.source.horizon)
            low = max(low, 100 / self.source.horizon)
        return low <= rate <= high

    def requests_at(self, rate: float) -> int:
        """How many requests there are at a rate; with a horizon they follow from it."""
        if isinstance(self.source, Workload):
            return len(self.source)
        return replace(self.source, rate=rate).requests

    def at(self, rate: float, seed: int, least: int = 0) -> Workload:
        """One draw at a rate, longer than it is where that takes `least` requests."""
        own = max(1, self.requests_at(rate))
        times = max(1.0, min(least, MOST_DRAWN) / own)
        if isinstance(self.source, Workload):
            return self._stretched(self.source, rate, math.ceil(times))
        drawn = replace(self.source, rate=rate, seed=seed)
        if drawn.horizon is None:
            return generate(replace(drawn, n=math.ceil(times * drawn.requests)))
        return generate(replace(drawn, horizon=times * drawn.horizon))

    def _stretched(self, logged: Workload, rate: float, times: int) -> Workload:
        n = len(logged)
        which = np.tile(np.arange(n), times)
        # The next playing begins one mean gap after the last arrival of the one before.
        begin = np.repeat(np.arange(times), n) * n / rate
        arrival = (logged.arrival - logged.arrival.min())[which] * (self.rate / rate) + begin
        return replace(logged.take(which), arrival=arrival, row=np.arange(n * times))
