"""The largest number of clients of a closed loop whose limits are kept, and how sure that is.

Clients of a closed loop wait for their answers, so that their server never falls behind: it has no
rate, and only limits on what they wait end their number. For each seed the number is doubled or
halved from the one that is asked about and bisected in short draws, then around what they found in
draws so long that their beginning, when all clients come at once, is a small part of them. The mean
of the seeds has a t interval, and what is told is held once more to all limits in a draw of its
own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from engine.capacity.binding import Binding, binding_limit
from engine.capacity.border import Border
from engine.capacity.draws import MOST_DRAWN, Draws
from engine.capacity.objective import Objective
from engine.capacity.question import Question
from engine.capacity.rate import KNOWN, LOWERED, half_width
from engine.capacity.shortfall import Shortfall, shortfall
from engine.choice import Choice
from engine.demand.scenario import Scenario
from engine.demand.source import Source
from engine.errors import InputError, Livelock
from engine.fleet import Deployment
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all
from engine.simulate.run import Run

MOST_CLIENTS = 10_000
EACH_SENDS = 200  # requests, so that the first of each are half a per cent
FEWEST_SENT = 40_000
ROUGHLY = 8  # times shorter are the runs that show where to look
NEAR = 1.1  # times the number that was found so, and where the search goes on
USUAL_RUNS = 8  # until a seed's number is known
NEEDS_LIMIT = (
    "a closed loop has no rate but a number of clients, and any number waits for its server: limit "
    "what they wait, such as the time to first token"
)


@dataclass(frozen=True)
class Clients:
    """How many clients one policy serves within the limits.

    Attributes
    ----------
    choice : the policy
    asked : the number that was asked about
    seeds : of the draws
    borders : per seed the largest number that keeps the limits, 0 where one client does not, and
        the least that was seen not to, infinite where MOST_CLIENTS do
    number : the answer, which a long run of its own keeps the limits with; 0 where not even one
        client does
    rate : requests in a clock unit that they are served together; 0 without clients
    short : what is missed by the first seed's least number that misses; None where none does
    """

    choice: Choice
    asked: int
    seeds: tuple[int, ...]
    borders: tuple[Border, ...]
    number: int
    rate: float
    short: Shortfall | None = None

    @property
    def label(self) -> str:
        """`svf`, or `svf skip=5` where a parameter is not at its default."""
        return self.choice.label

    @property
    def carries_asked(self) -> bool:
        """Whether the number that was asked about is kept within the limits."""
        return self.asked <= self.number

    @property
    def is_least(self) -> bool:
        """Whether more may be served, as some seed met no number that was not."""
        return any(math.isinf(border.fails) for border in self.borders)

    @property
    def binding(self) -> Binding | None:
        """The limit that keeps the number from being larger; None where none was met."""
        return None if self.short is None else binding_limit(self.short)

    @property
    def interval(self) -> tuple[int, int] | None:
        """The 95 % interval of the number, whole clients; None for one draw or without an end."""
        if not self.number or self.is_least or len(self.borders) < 2:
            return None
        carried = np.array([border.carries for border in self.borders])
        most = np.mean([border.fails - 1 for border in self.borders])
        half = half_width(carried)
        low, high = math.floor(carried.mean() - half), math.ceil(most + half)
        return max(0, min(low, self.number)), max(high, self.number)

    @property
    def is_near(self) -> bool:
        """Whether the number that was asked about is one that chance decides."""
        if self.interval is None:
            return False
        low, high = self.interval
        return low < self.asked <= high and low < high


def asked_of_clients(
    source: Source, deployment: Deployment, objective: Objective, seeds: int
) -> Question:
    """The question that a closed loop answers: its requests, whose arrivals say nothing.

    Raises
    ------
    InputError
        Without limits, on several servers, and for too few requests.
    """
    if not objective.has_limits:
        raise InputError(NEEDS_LIMIT)
    if deployment.servers > 1:
        raise InputError("a closed loop runs on one server: leave out the others")
    if isinstance(source, Scenario):
        kind = "poisson" if source.arrivals == "backlog" else source.arrivals
        over_time: Source = replace(source, concurrency=0, arrivals=kind)
    else:
        over_time = replace(source, concurrency=0, arrival=np.arange(len(source), dtype=float))
    return Question(Draws(over_time, seeds), deployment, objective)


@dataclass(frozen=True)
class ClientSearch:
    """What is asked again and again: are limits kept with so many clients?"""

    choice: Choice
    question: Question
    asked: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "choice", self.question.deployment.inside(self.choice))

    def run(self, clients: int, seed: int, shorter: int = 1) -> Run:
        """Of so many requests that the first of all clients are few, at most MOST_DRAWN."""
        draws = self.question.draws
        requests = min(MOST_DRAWN, max(FEWEST_SENT, EACH_SENDS * clients))
        drawn = draws.at(draws.rate, seed, requests // shorter)
        return self.question.run(self.choice, replace(drawn, concurrency=clients))

    def keeps(self, clients: int, seed: int, shorter: int = 1) -> bool:
        """Whether so many are served within the limits."""
        try:
            return self.question.objective.kept_by(self.run(clients, seed, shorter))
        except Livelock:
            return False

    def border(self, seed: int, progress: Progress) -> Border:
        """Where the answer turns, sought in short runs from the number asked about on."""
        roughly = bisect_count(
            lambda clients: self.keeps(clients, seed, ROUGHLY), self.asked, 2.0, progress
        )
        begin = max(1, int(roughly.carries))
        return bisect_count(lambda clients: self.keeps(clients, seed), begin, NEAR, progress)

    def shortfall(self, clients: int, seed: int) -> Shortfall | None:
        """What is missed; None where a livelock leaves no run."""
        try:
            run = self.run(clients, seed)
        except Livelock:
            return None
        return shortfall(run, rate_of(run), self.question.objective)

    def confirmed(self, borders: Sequence[Border]) -> tuple[int, float]:
        """The mean of the seeds, lowered until a draw of its own keeps the limits; its rate.

        Not below the least of the seeds.
        """
        carried = [int(border.carries) for border in borders]
        number, least = math.floor(np.mean(carried)), min(carried)
        if not least:
            return 0, 0.0
        seed = (self.question.seeds[-1] + 1) % 2**32
        while number > least and not self.keeps(number, seed):
            number = max(least, min(number - 1, math.floor(number * LOWERED)))
        return number, rate_of(self.run(number, seed))


def rate_of(run: Run) -> float:
    """Requests in a clock unit, from the start of a closed loop to its end."""
    return len(run.workload) / float(run.finished_at.max())


def bisect_count(
    keeps: Callable[[int], bool], begin: int, times: float, progress: Progress
) -> Border:
    """The whole number at which `keeps` turns from true to false, to KNOWN of it or exactly.

    From `begin` on it is sought in steps of so many times.
    """
    low, high, number, asked = 0, math.inf, max(1, min(begin, MOST_CLIENTS)), 0
    while number and low < MOST_CLIENTS and not (low and math.isfinite(high)):
        low, high = (number, high) if keeps(number) else (low, number)
        number = min(MOST_CLIENTS, math.ceil(times * number)) if low else int(number / times)
        asked += 1
        progress(min(0.4, 0.08 * asked))
    while math.isfinite(high) and high - low > max(1, KNOWN * low):
        number = (low + int(high)) // 2
        low, high = (number, high) if keeps(number) else (low, number)
        asked += 1
        progress(min(0.95, 0.08 * asked))
    return Border(low, high)


def most_clients(
    searches: Sequence[ClientSearch], on: str = HERE, progress: Progress = silent
) -> Iterator[tuple[int, Clients]]:
    """The number of clients of each search, with its index, as soon as all its seeds are done."""
    asked = [(k, seed) for k, search in enumerate(searches) for seed in search.question.seeds]
    answers: dict[tuple[int, int], OfSeed] = {}
    for number, answer in run_all(Sweep(_of_seed, tuple(searches), asked), on, progress):
        k, _ = asked[number]
        answers[asked[number]] = answer
        seeds = searches[k].question.seeds
        if all((k, seed) in answers for seed in seeds):
            yield k, _clients(searches[k], [answers[k, seed] for seed in seeds])


class OfSeed(NamedTuple):
    """Of one seed, the first of which also tells what is missed."""

    border: Border
    short: Shortfall | None


def _of_seed(
    searches: Sequence[ClientSearch], asked: tuple[int, int], progress: Progress
) -> OfSeed:
    k, seed = asked
    search = searches[k]
    border = search.border(seed, progress)
    first = seed == search.question.seeds[0]
    if not first or math.isinf(border.fails):
        return OfSeed(border, None)
    return OfSeed(border, search.shortfall(int(border.fails), seed))


def _clients(search: ClientSearch, answers: Sequence[OfSeed]) -> Clients:
    borders = tuple(answer.border for answer in answers)
    number, rate = search.confirmed(borders)
    short = answers[0].short
    return Clients(search.choice, search.asked, search.question.seeds, borders, number, rate, short)


def seconds(search: ClientSearch) -> float:
    """How long `most_clients` takes for one search, roughly."""
    requests = max(FEWEST_SENT, EACH_SENDS * min(search.asked, MOST_CLIENTS))
    long = search.question.deployment.seconds(search.choice, min(MOST_DRAWN, requests))
    return (1 + len(search.question.seeds)) * USUAL_RUNS * long
