"""A day of changing rates: how many servers each hour, what they cost, and what users feel.

Each hour is looked at as a steady load of its own and gets the fewest servers that carry it.
A server takes a while to start, and is paid for meanwhile. With spare servers in every hour
a plan costs more and its users wait less; the plans that nobody beats in both are the front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from engine import wording
from engine.capacity.cost import HOUR, Price
from engine.capacity.question import Question
from engine.capacity.rate import Capacity
from engine.capacity.servers import USUAL_FLEETS, fewest_servers, first_guess, requests_each
from engine.choice import Choice
from engine.errors import InputError
from engine.fields import number_in
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all
from engine.workload import Workload

HOURS = 24
SPARES = (0, 1, 2, 4)  # servers beyond the fewest, one plan each
CURVE = (  # of a service people use in the daytime, as shares of its peak; a shape of our own
    0.34, 0.28, 0.24, 0.22, 0.22, 0.26, 0.36, 0.52, 0.72, 0.88, 0.96, 0.98,
    0.92, 0.94, 1.00, 0.99, 0.95, 0.87, 0.78, 0.72, 0.68, 0.60, 0.50, 0.41,
)  # fmt: skip


def daily_curve(peak: float) -> tuple[float, ...]:
    """The built-in day with this rate at its busiest hour."""
    return tuple(number_in("peak rate", peak, 1e-4, 1e6) * share for share in CURVE)


def read_rates(text: str) -> tuple[float, ...]:
    """24 numbers, parted by commas or blanks; InputError otherwise."""
    words = text.replace(",", " ").split()
    if len(words) != HOURS:
        raise InputError(f"a day has {HOURS} rates, one an hour, got {len(words)}")
    try:
        return tuple(number_in("rate of an hour", float(word), 0, 1e6) for word in words)
    except ValueError as problem:
        raise InputError(f"rates of a day must be numbers: {problem}") from None


def hourly_rates(workload: Workload) -> tuple[float, ...]:
    """Arrivals a second in each hour of a trace in seconds, counted from its first arrival.

    Traces of several days are averaged over them. An hour that the trace covers in part has the
    rate of that part, the last arrival standing for a mean gap; hours that it does not reach are 0.
    """
    since = workload.arrival - workload.arrival.min()
    gaps = max(1, len(since) - 1)
    end = float(since.max()) * (1 + 1 / gaps) or HOUR
    hour = (since // HOUR).astype(np.int64)
    hours = np.arange(hour.max() + 1)
    covered = np.bincount(hours % HOURS, np.clip(end - hours * HOUR, 0, HOUR), minlength=HOURS)
    came = np.bincount(hour % HOURS, minlength=HOURS)
    return tuple(np.divide(came, covered, out=np.zeros(HOURS), where=covered > 0).tolist())


@dataclass(frozen=True)
class DayPlan:
    """So many servers in each hour.

    Attributes
    ----------
    choice : the policy
    spare : servers beyond the fewest in each hour
    rates, servers : by hour
    tails : by hour, the objective's percentile of end-to-end latency, mean over the seeds;
        0 without arrivals
    """

    choice: Choice
    spare: int
    rates: tuple[float, ...]
    servers: tuple[int, ...]
    tails: tuple[float, ...]

    @property
    def label(self) -> str:
        return self.choice.label

    @property
    def worst(self) -> float:
        """The percentile in the hour in which it is highest."""
        return max(self.tails)

    def server_hours(self, start_up: float = 0.0) -> float:
        """Paid in a day that follows one like it; `start_up` is in hours."""
        more = np.maximum(0, np.diff(self.servers, prepend=self.servers[-1])).sum()
        return float(sum(self.servers) + start_up * more)

    def cost(self, price: Price, start_up: float = 0.0) -> float:
        """Of the day."""
        return price.an_hour(self.server_hours(start_up))

    def cost_of_peak(self, price: Price) -> float:
        """Of a day that keeps the most servers all the time."""
        return price.an_hour(len(self.servers) * max(self.servers))


def plans(
    capacity: Capacity,
    question: Question,
    rates: Sequence[float],
    on: str = HERE,
    progress: Progress = silent,
) -> list[DayPlan]:
    """One plan for each of SPARES; none where some hour's load is carried by no number.

    Raises
    ------
    InputError
        For pools.
    """
    if question.deployment.topology.pools:
        raise InputError("a day is planned for servers that all do everything, not for pools")
    distinct = sorted(set(rates) - {0.0})
    hours: dict[float, Hour] = {}
    for number, hour in run_all(Sweep(_hour, (capacity, question), distinct), on, progress):
        if hour is None:
            return []
        hours[distinct[number]] = hour
    return [
        DayPlan(
            capacity.choice,
            spare,
            tuple(rates),
            tuple(hours[rate].fewest + spare if rate else 0 for rate in rates),
            tuple(hours[rate].tails[number] if rate else 0.0 for rate in rates),
        )
        for number, spare in enumerate(SPARES)
    ]


class Hour(NamedTuple):
    """The fewest servers for a rate, and the percentile with each of SPARES more."""

    fewest: int
    tails: tuple[float, ...]


def _hour(asked: tuple[Capacity, Question], rate: float, progress: Progress) -> Hour | None:
    capacity, question = asked
    fewest = fewest_servers(capacity, question, rate, progress).count
    if fewest is None:
        return None
    topology = question.deployment.topology
    fleets = (question.with_servers(replace(topology, replicas=fewest + spare)) for spare in SPARES)
    return Hour(fewest, tuple(_tail(capacity.choice, fleet, rate) for fleet in fleets))


def _tail(choice: Choice, question: Question, rate: float) -> float:
    """The percentile of end-to-end latency at a rate, mean over the seeds."""
    requests = question.deployment.servers * requests_each(question.draws)
    tails = [
        question.objective.percentile(
            question.run(choice, question.draws.at(rate, seed, requests)).latency
        )
        for seed in question.seeds
    ]
    return float(np.mean(tails))


def seconds(capacity: Capacity, question: Question, rates: Sequence[float]) -> float:
    """How long `plans` takes, roughly."""
    if capacity.rate is None:
        return 0.0
    topology = question.deployment.topology
    runs = len(question.seeds) * (len(SPARES) + 1 + USUAL_FLEETS)
    n = len(question.draws.present)
    counts = [first_guess(capacity, rate, topology) for rate in set(rates) - {0.0}]
    return sum(
        runs
        * question.deployment.with_servers(replace(topology, replicas=count)).seconds(
            capacity.choice, count * n
        )
        for count in counts
    )


def pareto(plans: Sequence[DayPlan], cost: Callable[[DayPlan], float]) -> list[DayPlan]:
    """The plans that no other beats in both cost and worst percentile, by ascending cost."""
    front: list[DayPlan] = []
    for plan in sorted(plans, key=lambda plan: (cost(plan), plan.worst)):
        if not front or plan.worst < front[-1].worst:
            front.append(plan)
    return front


def in_words(plans: Sequence[DayPlan], price: Price, start_up: float) -> str:
    """The cheapest plan, against the next policy's and against keeping the peak all day."""
    leanest = sorted(
        (plan for plan in plans if plan.spare == 0), key=lambda plan: plan.cost(price, start_up)
    )
    best = leanest[0]
    sentence = (
        f"**{best.label}** needs {min(best.servers)} to {max(best.servers)} servers over the "
        f"day, {wording.number(best.server_hours(start_up))} server-hours: "
        f"{wording.number(best.cost(price, start_up))} USD a day, against "
        f"{wording.number(best.cost_of_peak(price))} with {max(best.servers)} all day"
    )
    dearest = leanest[-1]
    if dearest.cost(price, start_up) <= best.cost(price, start_up):
        return f"{sentence}."
    return f"{sentence} and {wording.number(dearest.cost(price, start_up))} under {dearest.label}."
