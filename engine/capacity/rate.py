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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.capacity.border import STEPS, Border, bisect_factor
from engine.capacity.draws import STEADY, Draws
from engine.capacity.objective import keeps_up
from engine.capacity.question import Question
from engine.capacity.shortfall import Shortfall, shortfall
from engine.choice import Choice
from engine.errors import Livelock
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
    choice : the policy whose rate it is
    seeds : of the draws
    borders : per seed the last rate carried, 0 where none was, and the first that was not,
        infinite where all were
    shortfall : what was wrong at the least rate that was tried, of the first seed that
        carries none; None where each carries one
    """

    choice: Choice
    seeds: tuple[int, ...]
    borders: tuple[Border, ...]
    shortfall: Shortfall | None = None

    @property
    def label(self) -> str:
        """`svf`, or `svf skip=5` where a parameter is not at its default."""
        return self.choice.label

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
        apart = np.subtract(
            [border.carries for border in self.borders],
            [border.carries for border in other.borders],
        )
        return bool(abs(apart.mean()) <= _half_width(apart))


def _half_width(drawn: np.ndarray) -> float:
    """Of the t interval of the mean of (k,) independent draws, k > 1."""
    from scipy.special import stdtrit  # slow to import

    error = drawn.std(ddof=1) / np.sqrt(len(drawn))
    return float(stdtrit(len(drawn) - 1, (1 + CONFIDENCE) / 2) * error)


@dataclass(frozen=True)
class RateSearch:
    """What is asked again and again: does this policy carry this rate?"""

    choice: Choice
    question: Question

    def border(self, seed: int, progress: Progress) -> Border:
        """Where the answer turns; sought once more with long runs where it would not last."""
        border = self._turn(self._draws.rate, lambda rate: self._meets(rate, seed), progress)
        if border.carries == 0 or self._lasts(border.carries, seed):
            return border
        return self._turn(
            border.carries,
            lambda rate: self._meets(rate, seed) and self._lasts(rate, seed),
            progress,
        )

    def shortfall(self, rate: float, seed: int) -> Shortfall | None:
        """What is wrong at a rate that is not carried; None where a livelock leaves no run."""
        try:
            run = self.question.run(self.choice, self._draws.at(rate, seed))
        except Livelock:
            return None
        return shortfall(run, rate, self.question.objective)

    @property
    def _draws(self) -> Draws:
        return self.question.draws

    def _turn(self, begin: float, answer: Callable[[float], bool], progress) -> Border:
        """The rates around the turn, the search beginning at one."""
        border = bisect_factor(
            lambda factor: self._draws.reaches(begin * factor) and answer(begin * factor), progress
        )
        return Border(begin * border.carries, begin * border.fails)

    def _meets(self, rate: float, seed: int) -> bool:
        return self._is(self.question.objective.met_by, self._draws.at(rate, seed))

    def _lasts(self, rate: float, seed: int) -> bool:
        """Whether the server still keeps up in a run that is long enough to tell."""
        least = STEADY * self.question.deployment.servers
        if self._draws.requests_at(rate) >= least:
            return True
        return self._is(keeps_up, self._draws.at(rate, seed, least))

    def _is(self, what: Callable[[Run], bool], workload: Workload) -> bool:
        try:
            return what(self.question.run(self.choice, workload))
        except Livelock:
            return False


def largest_rate(
    choice: Choice, question: Question, on: str = HERE, progress: Progress = silent
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
    return dict(largest_rates([RateSearch(choice, question)], on, progress))[0]


def largest_rates(
    searches: Sequence[RateSearch], on: str = HERE, progress: Progress = silent
) -> Iterator[tuple[int, Capacity]]:
    """The largest rate of each, with its index, as soon as all its seeds are done."""
    asked = [(k, seed) for k, search in enumerate(searches) for seed in search.question.seeds]
    answers: dict[tuple[int, int], Answer] = {}
    for number, answer in run_all(Sweep(_border, tuple(searches), asked), on, progress):
        k, _ = asked[number]
        answers[asked[number]] = answer
        seeds = searches[k].question.seeds
        if all((k, seed) in answers for seed in seeds):
            yield k, _capacity(searches[k], [answers[k, seed] for seed in seeds])


Answer = tuple[Border, Shortfall | None]  # of one seed


def _border(searches: Sequence[RateSearch], asked: tuple[int, int], progress: Progress) -> Answer:
    k, seed = asked
    border = searches[k].border(seed, progress)
    return border, None if border.carries > 0 else searches[k].shortfall(border.fails, seed)


def _capacity(search: RateSearch, answers: Sequence[Answer]) -> Capacity:
    borders = tuple(border for border, _ in answers)
    wrong = next((short for _, short in answers if short is not None), None)
    return Capacity(search.choice, search.question.seeds, borders, wrong)


def seconds(choice: Choice, question: Question) -> float:
    """How long `largest_rate` takes where limits decide, roughly."""
    return len(question.seeds) * USUAL_RUNS * question.run_seconds(choice)
