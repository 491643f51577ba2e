"""How many servers a load needs: the fewest that carry it.

Division of the load by what one server carries is where the search begins, not its answer: a
router hands each server a more regular stream than one server alone would see, so that limits may
be kept at more than that. What is kept up with at all (limit.py) does not change by it, so no fewer
servers are tried than that takes; with pools it depends on the split, and is found for each.
A load is carried only if every seed's draw of it is, and a long draw too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine import wording
from engine.capacity.binding import binding_limit
from engine.capacity.draws import MOST_DRAWN, STEADY, Draws
from engine.capacity.limit import ceiling_of, is_in_reach, limit
from engine.capacity.objective import keeps_up
from engine.capacity.question import Question
from engine.capacity.rate import CONFIRMED_BY, Capacity
from engine.capacity.saturation import PATIENT
from engine.capacity.shortfall import shortfall
from engine.choice import Choice
from engine.demand.scenario import Scenario
from engine.errors import Livelock
from engine.fields import number_in
from engine.fleet import MOST_REPLICAS, ONE_SERVER, Topology
from engine.fleet.routing import MOST_ROUTED, looks
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all

USUAL_FLEETS = 2  # that are simulated until the fewest servers are known
SPLITS = 24  # of one number of servers into pools, at most


@dataclass(frozen=True)
class Servers:
    """The fewest servers for a load.

    Attributes
    ----------
    label : of the policy
    load : requests in a clock unit
    count : servers; None where no number that was tried will do
    tried : (servers, how many of the seeds they carried), in order of the search
    pools : how many of them prefill and how many decode; None where all do everything
    one_fewer : why one server fewer will not do, as the end of a sentence; empty where unknown
    served : share of the requests that are served; 1 where none can leave
    """

    label: str
    load: float
    count: int | None
    tried: tuple[tuple[int, int], ...]
    pools: tuple[int, int] | None = None
    one_fewer: str = ""
    served: float = 1.0


def fewest_servers(
    capacity: Capacity, question: Question, load: float, progress: Progress = silent
) -> Servers:
    """Search from the division on, down while they do and up while they do not.

    Each server gets as many requests as the one of `capacity` did, up to draws.MOST_DRAWN in
    all, so that all see about the same length of time. Pools are tried in every split of a number,
    at most SPLITS of them, those first whose proportion is nearest to that of the last that did.

    Parameters
    ----------
    capacity : what the servers of the question carry; their routing and what moving a KV cache
        takes are those of any number of servers
    load : requests in a clock unit
    """
    load = number_in("load (requests in a clock unit)", load, 1e-6, 1e9)
    if capacity.rate is None:
        return Servers(capacity.label, load, None, ())
    topology = question.deployment.topology
    seeds, carrying = len(question.seeds), topology
    tried: dict[int, Tried] = {}

    def carried(count: int) -> bool:
        nonlocal carrying
        if count not in tried:
            progress(len(tried) / (len(tried) + 2), f"{count} servers")
            tried[count] = Tried(0)
            for servers in _topologies(carrying, count):
                trial = _try(capacity, question.with_servers(servers), load)
                tried[count] = max(trial, tried[count], key=lambda tried: tried.met)
                if trial.met == seeds:
                    carrying = servers
                    break
        return tried[count].met == seeds

    least = 2 if topology.pools else 1
    count = first_guess(capacity, load, topology)
    most = min(MOST_REPLICAS, 2 * count + 8)
    while count > least and carried(count - 1):
        count -= 1
    while count <= most and not carried(count):
        count += 1
    asked = tuple((number, trial.met) for number, trial in tried.items())
    if count > most:
        return Servers(capacity.label, load, None, asked)
    carried(count)
    fewer = tried[count - 1].why if count - 1 in tried else ""
    served = tried[count].served
    return Servers(capacity.label, load, count, asked, carrying.pools, fewer, served)


class Tried(NamedTuple):
    """What became of a number of servers.

    Attributes
    ----------
    met : how many of the seeds they carried, none beyond the first that they did not
    why : they did not carry it; empty where they did
    served : share of the requests that were served
    """

    met: int
    why: str = ""
    served: float = 1.0


def _topologies(like: Topology, count: int) -> list[Topology]:
    """So many servers; pools in their splits, nearest to the proportion of `like` first."""
    if like.pools is None:
        return [replace(like, replicas=count)]
    share = like.pools[0] / like.servers
    splits = sorted(range(1, count), key=lambda prefill: abs(prefill / count - share))
    return [replace(like, pools=(prefill, count - prefill)) for prefill in splits[:SPLITS]]


def fewest_servers_each(
    capacities: Sequence[Capacity],
    question: Question,
    load: float,
    on: str = HERE,
    progress: Progress = silent,
) -> list[Servers]:
    """`fewest_servers` of each policy whose capacity is known, in that order."""
    sweep = Sweep(_servers_of, (question, load), list(capacities))
    counted = dict(run_all(sweep, on, progress))
    return [counted[number] for number in range(len(capacities))]


def _servers_of(
    question_and_load: tuple[Question, float], capacity: Capacity, progress: Progress
) -> Servers:
    return fewest_servers(capacity, *question_and_load, progress)


def first_guess(capacity: Capacity, load: float, topology: Topology = ONE_SERVER) -> int:
    """The load over what one server carries, rounded up; the capacity has a rate."""
    assert capacity.rate is not None
    each_carries = capacity.rate / topology.servers
    least = 2 if topology.pools else 1
    return min(MOST_REPLICAS, max(least, math.ceil(load / each_carries - 1e-9)))


def _try(capacity: Capacity, question: Question, load: float) -> Tried:
    """In how many draws the servers keep up and meet the limits, none beyond the first that fails.

    Where what is kept up with is known, short draws are held to the limits alone. In long ones no
    queue may grow either: so near to that rate that it takes the servers longer to settle, nobody
    who simulates them would call the load carried.
    """
    if behind := _falls_behind(capacity, question, load):
        return Tried(0, behind)
    draws, servers = question.draws, question.deployment.servers
    objective, choice = question.objective, capacity.choice
    known = bool(capacity.limits)
    long = _long(choice, question)

    def missed(seed: int, requests: int) -> str:
        run = question.run(choice, draws.at(load, seed, requests))
        shares.append(len(run.workload) / run.offered)
        if not objective.kept_by(run):
            wrong = shortfall(run, load / servers, objective)
            return f"misses {binding_limit(wrong).in_words(objective.percent)}"
        if (known and requests < long) or keeps_up(run):
            return ""
        return f"falls behind in a run of {wording.count(run.offered)} requests"

    shares: list[float] = []
    try:
        if objective.has_limits or draws.present.depends_on_run or not known:
            for met, seed in enumerate(question.seeds):
                if why := missed(seed, requests_each(draws) * servers):
                    return Tried(met, why)
        for met, seed in enumerate(question.seeds):
            if why := missed(seed, long):
                return Tried(met, why)
    except Livelock:
        return Tried(0, "comes to a stop where requests throw each other out of the memory")
    return Tried(len(question.seeds), served=min(shares))


def _long(choice: Choice, question: Question) -> int:
    """How many requests show whether the servers keep up: as many as a single one is held to."""
    deployment = question.deployment
    long = min(MOST_DRAWN, CONFIRMED_BY * deployment.servers)
    if looks(deployment.topology.routing):
        long = min(long, MOST_ROUTED)
    least = min(long, STEADY * deployment.servers)
    return long if deployment.seconds(choice, long) <= PATIENT else least


def _falls_behind(capacity: Capacity, question: Question, load: float) -> str:
    """How the servers do not keep up, whatever their users wait; empty where they do."""
    topology = question.deployment.topology
    if topology.pools and capacity.limits:
        top = ceiling_of(capacity.choice, question)
        if not is_in_reach(top, question):
            return ""
        border = limit(capacity.choice, question, top, question.seeds[0])
        carries, fails = border.carries, border.fails
    elif capacity.kept_up is not None:
        times = topology.servers / capacity.servers
        carries, fails = capacity.kept_up.carries * times, capacity.kept_up.fails * times
    else:
        return ""
    if load <= carries:
        return ""
    if load >= fails:
        return (
            f"falls behind, as the load is {wording.percent(load / fails)} of what it keeps up with"
        )
    return "is so near to what it keeps up with that no run tells whether it does"


def requests_each(draws: Draws) -> int:
    """Requests for one server; with a horizon they follow from the load."""
    is_by_horizon = isinstance(draws.source, Scenario) and draws.source.horizon is not None
    return 0 if is_by_horizon else len(draws.present)


def seconds(choice: Choice, question: Question, count: int) -> float:
    """How long `fewest_servers` takes around `count` servers, roughly."""
    n = count * len(question.draws.present)
    servers = _topologies(question.deployment.topology, count)[0]
    deployment = question.deployment.with_servers(servers)
    return USUAL_FLEETS * len(question.seeds) * deployment.seconds(choice, n)
