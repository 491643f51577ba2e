"""The largest rate of arrivals that a policy carries within the limits, and how sure that is.

For each seed the rate that is kept up with for good comes first (limit.py). Where no limit on
what users wait is missed there, in a run of at least STEADY requests a server, it is the answer;
else bisection finds the rate below it at which the limits begin to be missed: the last rate
carried and the first that is not, less than 1 % apart, by the seed's own draw and, where that does
not last, by the longer one. The seeds' last carried rates are independent draws of one quantity,
so their mean has a t interval. What is told is held once more to all limits, in a long draw that
had no part in it, and lowered until it keeps them. A rate is reported only where every seed has
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from engine.capacity.binding import Binding, binding_limit
from engine.capacity.border import STEPS, Border, bisect_factor
from engine.capacity.draws import STEADY, Draws
from engine.capacity.law import Ceiling
from engine.capacity.limit import Limit, ceiling_of, is_in_reach, limit, until_burst
from engine.capacity.question import Question
from engine.capacity.shortfall import Shortfall, shortfall
from engine.choice import Choice
from engine.errors import Livelock
from engine.measure.overload import TOLERABLE
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all

CONFIDENCE = 0.95
USUAL_RUNS = STEPS + 2  # of a bisection that starts within a factor 2 of the border
LONG_RUNS = 2  # of STEADY requests, for what is kept up with and whether limits are kept there
KNOWN = 0.01  # of a rate
CONFIRMED_BY = 10 * STEADY  # requests a server
LOWERED, TIMES = 0.985, 8  # an answer that does not keep the limits, and how often


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
    limits : per seed what is kept up with, whatever the users wait; empty where requests cannot be
        drawn as fast as they are served
    binding : what keeps the rate from being larger; None where that was not found
    until_burst : a larger rate that an empty server keeps up with, until a queue builds up
    confirmed : what the mean of the seeds was lowered to, so that a long run keeps the limits
    served : share of the requests that were served in that run; 1 where none can leave
    fits : share of the requests that fit in M; the others are set aside
    servers : that carry the rate together
    """

    choice: Choice
    seeds: tuple[int, ...]
    borders: tuple[Border, ...]
    shortfall: Shortfall | None = None
    limits: tuple[Limit, ...] = ()
    binding: Binding | None = None
    until_burst: float | None = None
    confirmed: float | None = None
    served: float = 1.0
    fits: float = 1.0
    servers: int = 1

    @property
    def label(self) -> str:
        """`svf`, or `svf skip=5` where a parameter is not at its default."""
        return self.choice.label

    @property
    def rate(self) -> float | None:
        """Requests in a clock unit, the mean over the seeds; None where a seed has none."""
        carried = [border.carries for border in self.borders]
        if min(carried) <= 0:
            return None
        return float(np.mean(carried)) if self.confirmed is None else self.confirmed

    @property
    def ceiling(self) -> float | None:
        """The certified ceiling; None where it is out of reach."""
        return self.limits[0].ceiling if self.limits else None

    @property
    def kept_up(self) -> Border | None:
        """What is kept up with whatever the users wait, over the seeds; None where unknown."""
        if not self.limits:
            return None
        carries, fails = (
            [getattr(of, name) for of in self.limits] for name in ("carries", "fails")
        )
        return Border(float(np.mean(carries)), float(np.mean(fails)))

    @property
    def is_least(self) -> bool:
        """Whether more may be carried, as some seed met no rate that was not."""
        return self.rate is not None and any(np.isinf(border.fails) for border in self.borders)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the rate; None for a single draw, and where there is no border.

        The t interval of the mean, and above it what bisection left open. What is kept up with is
        known to KNOWN at best, as the mean of 100,000 requests of a law differs from it by so much.
        """
        if self.rate is None or self.is_least or len(self.borders) < 2:
            return None
        carried = np.array([border.carries for border in self.borders])
        open_part = float(np.mean([border.fails for border in self.borders]) - carried.mean())
        half = half_width(carried)
        low, high = carried.mean() - half, carried.mean() + half + open_part
        if self.ceiling is not None:
            low, high = min(low, (1 - KNOWN) * self.rate), max(high, (1 + KNOWN) * self.rate)
            high = min(high, (1 + KNOWN) * self.ceiling)
        return max(0.0, float(min(low, self.rate))), float(high)

    def may_equal(self, other: Capacity) -> bool:
        """Whether the 95 % interval of the difference of the rates, seed by seed, holds 0."""
        apart = np.subtract(
            [border.carries for border in self.borders],
            [border.carries for border in other.borders],
        )
        return bool(abs(apart.mean()) <= half_width(apart))


def half_width(drawn: np.ndarray) -> float:
    """Of the t interval of the mean of (k,) independent draws, k > 1."""
    from scipy.special import stdtrit  # slow to import

    error = drawn.std(ddof=1) / np.sqrt(len(drawn))
    return float(stdtrit(len(drawn) - 1, (1 + CONFIDENCE) / 2) * error)


@dataclass(frozen=True)
class RateSearch:
    """What is asked again and again: does this policy carry this rate?"""

    choice: Choice
    question: Question

    def __post_init__(self) -> None:
        object.__setattr__(self, "choice", self.question.deployment.inside(self.choice))

    def limit(self, seed: int) -> Limit | None:
        """What is kept up with; None where requests cannot be drawn fast enough to tell."""
        if not is_in_reach(self._top, self.question):
            return None
        return limit(self.choice, self.question, self._top, seed)

    def until_burst(self, kept_up: Limit | None, seed: int) -> float | None:
        """As of limit.py."""
        if kept_up is None:
            return None
        return until_burst(self.choice, self.question, self._top, kept_up, seed)

    @property
    def fits(self) -> float:
        """Share of the requests that fit in M."""
        return self._top.law.share

    def border(self, seed: int, kept_up: Limit | None, progress: Progress) -> Border:
        """Where the answer turns, at most at what the seed's draw keeps up with."""
        if kept_up is None:
            return self._sought(self._draws.rate, np.inf, seed, progress)
        most = kept_up.carries
        if most == 0 or not self.asks_more or self._lasts(most, seed, True):
            return Border(most, kept_up.fails)
        return self._sought(min(self._draws.rate, most), most, seed, progress)

    @property
    def asks_more(self) -> bool:
        """Whether a rate that is kept up with may still not be carried."""
        return self.question.objective.has_limits or self._draws.present.depends_on_run

    def shortfall(self, rate: float, seed: int) -> Shortfall | None:
        """What is wrong at a rate that is not carried; None where a livelock leaves no run.

        In the seed's own draw, or where that is well, in the long one.
        """
        objective, short = self.question.objective, None
        for least in (0, STEADY * self.question.deployment.servers):
            try:
                run = self.question.run(self.choice, self._draws.at(rate, seed, least))
            except Livelock:
                return short
            short = shortfall(run, rate, objective)
            if short.misses or not objective.kept_by(run):
                return short
        return short

    def confirmed(self, rate: float, least: float) -> tuple[float, float]:
        """The rate, lowered until a long draw of its own keeps all limits; the share served.

        Not below the least, where every seed kept them.
        """
        requests = CONFIRMED_BY * self.question.deployment.servers
        seed = (self.question.seeds[-1] + 1) % 2**32
        lowered = (max(least, rate * LOWERED**times) for times in range(TIMES))
        for asked in (*lowered, least):
            run = self.question.run(self.choice, self._draws.at(asked, seed, requests))
            if asked <= least or self.question.objective.kept_by(run):
                break
        return asked, len(run.workload) / run.offered

    @cached_property
    def _top(self) -> Ceiling:
        return ceiling_of(self.choice, self.question)

    @property
    def _draws(self) -> Draws:
        return self.question.draws

    def _sought(self, begin: float, most: float, seed: int, progress: Progress) -> Border:
        """By bisection; once more with long runs where what is found does not last."""
        known = np.isfinite(most)

        def meets(rate: float) -> bool:
            return rate <= most and self._meets(rate, seed, known)

        border = self._turn(begin, meets, progress)
        if border.carries == 0 or self._lasts(border.carries, seed, known):
            return border
        return self._turn(
            border.carries, lambda rate: meets(rate) and self._lasts(rate, seed, known), progress
        )

    def _turn(self, begin: float, answer: Callable[[float], bool], progress) -> Border:
        """The rates around the turn, the search beginning at one."""
        border = bisect_factor(
            lambda factor: self._draws.reaches(begin * factor) and answer(begin * factor), progress
        )
        return Border(begin * border.carries, begin * border.fails)

    def _lasts(self, rate: float, seed: int, known: bool) -> bool:
        """Whether all is met in a run that is long enough to tell."""
        return self._meets(rate, seed, known, STEADY * self.question.deployment.servers)

    def _meets(self, rate: float, seed: int, known: bool, least: int = 0) -> bool:
        """Whether limits are kept in a draw; where it is not known to be, that it keeps up too."""
        objective = self.question.objective
        try:
            run = self.question.run(self.choice, self._draws.at(rate, seed, least))
        except Livelock:
            return False
        return objective.kept_by(run) if known else objective.met_by(run)


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


class Answer(NamedTuple):
    """Of one seed."""

    border: Border
    kept_up: Limit | None
    shortfall: Shortfall | None
    until_burst: float | None


def _border(searches: Sequence[RateSearch], asked: tuple[int, int], progress: Progress) -> Answer:
    k, seed = asked
    search = searches[k]
    kept_up = search.limit(seed)
    border = search.border(seed, kept_up, progress)
    missed = kept_up is None or border.fails < kept_up.fails
    short = search.shortfall(border.fails, seed) if missed and np.isfinite(border.fails) else None
    first = seed == search.question.seeds[0]
    return Answer(border, kept_up, short, search.until_burst(kept_up, seed) if first else None)


def _capacity(search: RateSearch, answers: Sequence[Answer]) -> Capacity:
    borders = tuple(answer.border for answer in answers)
    limits = tuple(answer.kept_up for answer in answers if answer.kept_up is not None)
    short = [answer.shortfall for answer in answers if answer.shortfall is not None]
    carried = [border.carries for border in borders]
    none = min(carried) == 0
    capacity = Capacity(
        search.choice,
        search.question.seeds,
        borders,
        next(iter(short), None) if none else None,
        limits,
        _binding(borders, limits, short),
        answers[0].until_burst if not none else None,
        fits=search.fits,
        servers=search.question.deployment.servers,
    )
    if none or capacity.is_least or not search.asks_more:
        return capacity
    rate, served = search.confirmed(float(np.mean(carried)), min(carried))
    return replace(capacity, confirmed=rate, served=served)


def _binding(
    borders: Sequence[Border], limits: Sequence[Limit], short: Sequence[Shortfall]
) -> Binding | None:
    """A limit that is missed where most seeds end below what is kept up with, else a resource."""
    missed = [case for case in short if case.misses or case.served < 1 - TOLERABLE]
    if 2 * len(short) > len(borders) and missed:
        return binding_limit(missed[0])
    return Binding(limits[0].of) if limits else None


def seconds(choice: Choice, question: Question) -> float:
    """How long `largest_rate` takes, roughly."""
    long = question.deployment.seconds(choice, STEADY * question.deployment.servers)
    runs = USUAL_RUNS * question.run_seconds(choice) if question.objective.has_limits else 0.0
    return len(question.seeds) * (runs + LONG_RUNS * long)
