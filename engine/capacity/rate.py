"""The largest rate of arrivals that a policy carries within the limits, and how sure that is.

For each seed bisection finds the rate at which the answer turns: the last rate carried and
the first that is not, less than 1 % apart. A short run of a server that is a little overloaded
looks as if it kept up (measured on a Llama-2-70B server without limits: 2.9 requests a second by
2,000 requests, 2.4 by 10,000 and 2.2 by 40,000), so a rate that a draw carries must also be
kept up with in a draw of at least STEADY requests. The seeds' last carried rates are independent
draws of one quantity, so their mean has a t interval. A rate is reported only where every
seed has one that was simulated, kept up by the verdict and stayed within the limits: at
overload there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.capacity.border import STEPS, Border, bisect_factor
from engine.capacity.draws import STEADY, Draws
from engine.capacity.objective import Objective, keeps_up
from engine.capacity.shortfall import Shortfall, shortfall
from engine.errors import Livelock
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.policy import POLICIES, Policy
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all
from engine.simulate.run import Run
from engine.workload import Workload

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
    shortfall : what was wrong at the least rate that was tried, of the first seed that
        carries none; None where each carries one
    """

    policy: str
    params: tuple[tuple[str, float], ...]
    seeds: tuple[int, ...]
    borders: tuple[Border, ...]
    shortfall: Shortfall | None = None

    @property
    def label(self) -> str:
        """`svf`, or `svf skip=5` where a parameter is not at its default."""
        return POLICIES[self.policy].label(dict(self.params))

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
        carried = np.array([border.carries for border in self.borders])
        open_part = float(np.mean([border.fails for border in self.borders]) - carried.mean())
        half = _half_width(carried)
        return max(0.0, self.rate - half), self.rate + half + open_part

    def may_equal(self, other: Capacity) -> bool:
        """Whether the 95 % interval of the difference of the rates, seed by seed, holds 0."""
        mine, its = ([border.carries for border in one.borders] for one in (self, other))
        apart = np.subtract(mine, its)
        return bool(abs(apart.mean()) <= _half_width(apart))


def _half_width(drawn: np.ndarray) -> float:
    """Of the t interval of the mean of (k,) independent draws, k > 1."""
    from scipy.special import stdtrit

    error = drawn.std(ddof=1) / np.sqrt(len(drawn))
    return float(stdtrit(len(drawn) - 1, (1 + CONFIDENCE) / 2) * error)


@dataclass(frozen=True, eq=False)
class Server:
    """What is asked again and again: does it carry this rate?"""

    policy: Policy
    params: Mapping
    draws: Draws
    memory: int
    objective: Objective
    clock: Clock
    topology: Topology

    def border(self, seed: int, progress: Progress) -> Border:
        """Where the answer turns; sought once more with long runs where it would not last."""
        found = self._turn(self.draws.rate, lambda rate: self._meets(rate, seed), progress)
        if found.carries == 0 or self._lasts(found.carries, seed):
            return found
        return self._turn(
            found.carries,
            lambda rate: self._meets(rate, seed) and self._lasts(rate, seed),
            progress,
        )

    def shortfall(self, rate: float, seed: int) -> Shortfall | None:
        """What is wrong at a rate that is not carried; None where a livelock leaves no run."""
        try:
            run = self._run(self.draws.at(rate, seed))
        except Livelock:
            return None
        return shortfall(run, rate, self.objective)

    def _turn(self, begin: float, answer: Callable[[float], bool], progress) -> Border:
        """The rates around the turn, the search beginning at one."""
        found = bisect_factor(
            lambda factor: self.draws.reaches(begin * factor) and answer(begin * factor), progress
        )
        return Border(begin * found.carries, begin * found.fails)

    def _meets(self, rate: float, seed: int) -> bool:
        return self._is(self.objective.met_by, self.draws.at(rate, seed))

    def _lasts(self, rate: float, seed: int) -> bool:
        """Whether the server still keeps up in a run that is long enough to tell."""
        least = STEADY * self.topology.servers
        if self.draws.requests_at(rate) >= least:
            return True
        return self._is(keeps_up, self.draws.at(rate, seed, least))

    def _is(self, what: Callable[[Run], bool], workload: Workload) -> bool:
        try:
            return what(self._run(workload))
        except Livelock:
            return False

    def _run(self, workload: Workload) -> Run:
        return self.topology.run(
            self.policy, workload, self.memory, clock=self.clock, **self.params
        )


def largest_rate(
    policy: Policy,
    params: Mapping,
    draws: Draws,
    memory: int,
    objective: Objective = Objective(),  # noqa: B008  (immutable)
    clock: Clock = ROUNDS,
    topology: Topology = ONE_SERVER,
    progress: Progress = silent,
    on: str = HERE,
) -> Capacity:
    """Bisect the rate for each seed, from the present one.

    Parameters
    ----------
    on : where, as for `run_all`

    Raises
    ------
    InputError
        For bad numbers, or where no request fits in M.
    """
    server = Server(policy, params, draws, memory, objective, clock, topology)
    return dict(largest_rates([server], on, progress))[0]


def largest_rates(
    servers: Sequence[Server], on: str = HERE, progress: Progress = silent
) -> Iterator[tuple[int, Capacity]]:
    """The largest rate of each, with its index, as soon as all its seeds are done."""
    asked = [(k, seed) for k, server in enumerate(servers) for seed in server.draws.seeds]
    answers: dict[tuple[int, int], tuple[Border, Shortfall | None]] = {}
    for number, answer in run_all(Sweep(_border, tuple(servers), asked), on, progress):
        k, _ = asked[number]
        answers[asked[number]] = answer
        mine = [answers.get((k, seed)) for seed in servers[k].draws.seeds]
        if None not in mine:
            yield k, _capacity(servers[k], mine)


def _border(
    servers: Sequence[Server], asked: tuple[int, int], progress: Progress
) -> tuple[Border, Shortfall | None]:
    k, seed = asked
    border = servers[k].border(seed, progress)
    return border, None if border.carries > 0 else servers[k].shortfall(border.fails, seed)


def _capacity(server: Server, answers: Sequence[tuple[Border, Shortfall | None]]) -> Capacity:
    values = tuple(server.policy.read_params(server.params).items())
    borders = tuple(border for border, _ in answers)
    wrong = next((short for _, short in answers if short is not None), None)
    return Capacity(server.policy.key, values, server.draws.seeds, borders, wrong)


def seconds(policy: Policy, draws: Draws, topology: Topology = ONE_SERVER) -> float:
    """How long `largest_rate` takes where limits decide, roughly."""
    return len(draws.seeds) * USUAL_RUNS * topology.cost(policy, len(draws.present))
