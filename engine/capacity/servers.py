"""How many servers a load needs: the fewest whose simulation meets the objective.

Division of the load by what one server carries is where the search begins, not its answer:
a router hands each server a more regular stream than one server alone would see, and a load
is carried only if every seed's draw of it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.capacity.draws import STEADY, Draws
from engine.capacity.objective import keeps_up
from engine.capacity.question import Question
from engine.capacity.rate import Capacity
from engine.choice import Choice
from engine.demand.scenario import Scenario
from engine.errors import Livelock
from engine.fields import number_in
from engine.fleet import MOST_REPLICAS, ONE_SERVER, Topology
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all
from engine.simulate.run import Run

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
    """

    label: str
    load: float
    count: int | None
    tried: tuple[tuple[int, int], ...]
    pools: tuple[int, int] | None = None


def fewest_servers(
    capacity: Capacity, question: Question, load: float, progress: Progress = silent
) -> Servers:
    """Search from the division on, down while they do and up while they do not.

    Each server gets as many requests as the one of `capacity` did, up to draws.MOST_DRAWN in
    all, so that all see about the same length of time. As there, a long run of the first draw
    must also be kept up with. Pools are tried in every split of a number, at most SPLITS of them,
    those first whose proportion is nearest to that of the last that did.

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
    tried: dict[int, int] = {}

    def carried(count: int) -> bool:
        nonlocal carrying
        if count not in tried:
            progress(len(tried) / (len(tried) + 2), f"{count} servers")
            tried[count] = 0
            for servers in _topologies(carrying, count):
                met = _seeds_met(capacity.choice, question.with_servers(servers), load)
                tried[count] = max(tried[count], met)
                if met == seeds:
                    carrying = servers
                    break
        return tried[count] == seeds

    least = 2 if topology.pools else 1
    count = first_guess(capacity, load, topology)
    most = min(MOST_REPLICAS, 2 * count + 8)
    while count > least and carried(count - 1):
        count -= 1
    while count <= most and not carried(count):
        count += 1
    if count > most:
        return Servers(capacity.label, load, None, tuple(tried.items()))
    return Servers(capacity.label, load, count, tuple(tried.items()), carrying.pools)


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


def _seeds_met(choice: Choice, question: Question, load: float) -> int:
    """In how many draws the servers meet the objective, none beyond the first in which not."""
    draws, servers = question.draws, question.deployment.servers

    def run(seed: int, requests: int) -> Run:
        return question.run(choice, draws.at(load, seed, requests * servers))

    try:
        for met, seed in enumerate(question.seeds):
            if not question.objective.met_by(run(seed, requests_each(draws))):
                return met
        lasts = requests_each(draws) >= STEADY or keeps_up(run(question.seeds[0], STEADY))
    except Livelock:
        return 0
    return len(question.seeds) if lasts else 0


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
