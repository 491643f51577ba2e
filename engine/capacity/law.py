"""The requests that a source makes in the long run: means that no draw blurs.

A draw of 2,000 requests misses the mean work of its law by a tenth, and a rate that is measured
in it is wrong by as much. The lengths of a scenario are therefore taken at evenly spread
probabilities, and the requests of a trace as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.choice import Choice
from engine.demand.predictions import EXACT
from engine.demand.request_class import find_class
from engine.demand.scenario import Scenario
from engine.demand.source import Source
from engine.errors import InputError
from engine.fleet import Deployment
from engine.measure.need import Need, largest, needs
from engine.workload import Workload

EACH = 2**14  # requests of a class; 4 times as many move no mean by 1 in 1,000
GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less whole numbers, fill [0, 1) evenly


@dataclass(frozen=True, eq=False)
class Law:
    """Requests with weights.

    Attributes
    ----------
    workload : the requests
    weight : (n,) float64, their shares of all that arrive; less than 1 in all where some are left
        out
    """

    workload: Workload
    weight: np.ndarray

    @property
    def share(self) -> float:
        """Of the requests that arrive."""
        return float(self.weight.sum())

    def mean(self, values: np.ndarray) -> float:
        """Of (n,) values over all that arrive; who is left out counts as 0."""
        return float((values * self.weight).sum())

    def fitting(self, choice: Choice, deployment: Deployment) -> Law:
        """Without those that can never run.

        Raises
        ------
        InputError
            Where none can.
        """
        usable = deployment.usable(choice)
        fits = self.workload.fits(usable)
        if not fits.any():
            raise InputError(f"no request fits in memory M = {usable:,}")
        return Law(self.workload.take(fits), self.weight[fits])


def law_of(source: Source) -> Law:
    """All that the source can make."""
    if isinstance(source, Workload):
        return Law(source, np.full(len(source), 1 / len(source)))
    number = np.arange(EACH)
    uniform = (number + 0.5) / EACH, number * GOLDEN % 1
    lengths = [find_class(key).lengths(*uniform) for key, _ in source.mix]
    prompt, output = (np.concatenate(column) for column in zip(*lengths, strict=True))
    n = len(prompt)
    workload = Workload(
        np.zeros(n),
        prompt,
        output,
        np.repeat(np.arange(len(source.mix)), EACH),
        tuple(key for key, _ in source.mix),
        admission_limits=source.admission_limits,
    )
    return Law(workload, np.repeat([share / EACH for _, share in source.mix], EACH))


@dataclass(frozen=True, eq=False)
class Ceiling:
    """What nobody carries more than.

    Attributes
    ----------
    law : the requests that fit
    needs : theirs, by resource
    servers : that carry them together
    """

    law: Law
    needs: tuple[Need, ...]
    servers: int

    @cached_property
    def need(self) -> Need:
        """The one that binds: of the resource that is then used up."""
        return largest(list(self.needs), self.law.weight)

    @cached_property
    def mean_need(self) -> float:
        """Of a request that arrives, of what binds; clock units of a whole server."""
        return self.law.mean(self.need.amounts)

    @property
    def rate(self) -> float:
        """Requests in a clock unit, for all servers."""
        return self.servers / self.mean_need

    def shares(self, rate: float) -> dict[str, float]:
        """How much of each resource requests at a rate need at the least."""
        taken: dict[str, float] = {}
        for need in self.needs:
            share = rate * self.law.mean(need.amounts) / self.servers
            taken[need.of] = max(share, taken.get(need.of, 0.0))
        return taken


def ceiling(choice: Choice, source: Source, deployment: Deployment) -> Ceiling:
    """The certified ceiling of the rate, by work, memory, packing and the policy's own limits.

    Raises
    ------
    InputError
        Where no request fits in M.
    """
    law = law_of(source).fitting(choice, deployment)
    choice = deployment.inside(choice)
    keeps = not (choice.policy.may_give_up_kv or _is_predicted(source) or deployment.topology.pools)
    known = needs(law.workload, deployment.memory, deployment.clock, choice, keeps)
    return Ceiling(law, tuple(known), deployment.servers)


def _is_predicted(source: Source) -> bool:
    if isinstance(source, Scenario):
        return source.predict != EXACT
    return source.is_predicted
