"""The largest rate of arrivals that a policy carries within the limits, and how sure that is.

For each seed bisection finds the rate at which the answer turns: the last rate carried and
the first that is not, less than 1 % apart. The seeds' last carried rates are independent
draws of one quantity, so their mean has a t interval. A rate is reported only where every
seed has one that was simulated, kept up by the verdict and stayed within the limits: at
overload there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.capacity.draws import Draws
from engine.capacity.objective import Objective
from engine.clock import ROUNDS, Clock
from engine.errors import Livelock
from engine.fleet import ONE_SERVER, Topology
from engine.headroom import STEPS, WIDEST, Border, _bisect
from engine.policy import POLICIES, Policy
from engine.progress import Progress, silent

CONFIDENCE = 0.95
USUAL_RUNS = STEPS + 2  # of a bisection that starts within a factor 2 of the border


@dataclass(frozen=True)
class Capacity:
    """What one policy carries.

    Attributes
    ----------
    policy, params : whose rate it is
    seeds : of the draws
    borders : per seed the last rate carried, 0 where none was, and the first that was not,
        infinite where all were
    """

    policy: str
    params: tuple[tuple[str, float], ...]
    seeds: tuple[int, ...]
    borders: tuple[Border, ...]

    @property
    def label(self) -> str:
        """`svf`, or `svf skip=5` where a parameter is not at its default."""
        return pick_label(self.policy, dict(self.params))

    @property
    def rate(self) -> float | None:
        """Requests in a clock unit, the mean over the seeds; None where a seed has none."""
        carried = [border.carries for border in self.borders]
        return float(np.mean(carried)) if min(carried) > 0 else None

    @property
    def is_least(self) -> bool:
        """Whether more may be carried, as some seed met no rate that was not."""
        return self.rate is not None and any(np.isinf(border.fails) for border in self.borders)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the rate; None for a single draw, and where there is no border.

        The t interval of the mean, and above it what bisection left open.
        """
        if self.rate is None or self.is_least or len(self.borders) < 2:
            return None
        from scipy.special import stdtrit

        carried = np.array([border.carries for border in self.borders])
        open_part = float(np.mean([border.fails for border in self.borders]) - carried.mean())
        error = carried.std(ddof=1) / np.sqrt(len(carried))
        half = float(stdtrit(len(carried) - 1, (1 + CONFIDENCE) / 2) * error)
        return max(0.0, self.rate - half), self.rate + half + open_part


def pick_label(policy: str, params: Mapping) -> str:
    """What users call a policy with these parameters."""
    defaults = {param.name: param.default for param in POLICIES[policy].params}
    changed = [f"{k}={v:g}" for k, v in params.items() if v != defaults.get(k)]
    return " ".join([policy, *changed])


def largest_rate(
    policy: Policy,
    params: Mapping,
    draws: Draws,
    memory: int,
    objective: Objective = Objective(),  # noqa: B008  (immutable)
    clock: Clock = ROUNDS,
    topology: Topology = ONE_SERVER,
    progress: Progress = silent,
) -> Capacity:
    """Bisect the rate for each seed, from the present one.

    Raises
    ------
    InputError
        For bad numbers, or where no request fits in M.
    """
    borders = []
    for done, seed in enumerate(draws.seeds):

        def carries(factor: float, seed=seed) -> bool:
            rate = draws.rate * factor
            if not draws.reaches(rate):
                return False
            workload = draws.at(rate, seed)
            try:
                run = topology.run(policy, workload, memory, clock=clock, **params)
            except Livelock:
                return False
            return objective.met_by(run)

        def step(share: float, told: str = "", done=done) -> None:
            progress((done + share) / len(draws.seeds), told)

        found = _bisect(carries, step)
        borders.append(Border(draws.rate * found.carries, draws.rate * found.fails))
    values = tuple(policy.read_params(params).items())
    return Capacity(policy.key, values, draws.seeds, tuple(borders))


def lowest_tried(draws: Draws) -> float:
    """The rate below which none is tried."""
    return draws.rate / WIDEST


def seconds(policy: Policy, draws: Draws, topology: Topology = ONE_SERVER) -> float:
    """How long `largest_rate` takes, roughly."""
    return len(draws.seeds) * USUAL_RUNS * topology.cost(policy, len(draws.present))
