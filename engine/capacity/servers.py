"""How many servers a load needs: the fewest whose simulation meets the objective.

Division of the load by what one server carries is where the search begins, not its answer:
a router hands each server a more regular stream than one server alone would see, and a load
is carried only if every seed's draw of it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.capacity.draws import STEADY, Draws
from engine.capacity.objective import Objective, keeps_up
from engine.capacity.rate import Capacity
from engine.demand.scenario import Scenario
from engine.errors import Livelock
from engine.fields import number_in
from engine.fleet import MOST_REPLICAS, ONE_SERVER, Topology
from engine.machine.clock import ROUNDS, Clock
from engine.policy import Policy, find_policy
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
    policy: Policy,
    params: Mapping,
    draws: Draws,
    memory: int,
    load: float,
    capacity: Capacity,
    objective: Objective = Objective(),  # noqa: B008  (immutable)
    clock: Clock = ROUNDS,
    topology: Topology = ONE_SERVER,
    progress: Progress = silent,
) -> Servers:
    """Search from the division on, down while they do and up while they do not.

    Each server gets as many requests as the one of `capacity` did, up to draws.MOST_DRAWN in
    all, so that all see about the same length of time. As there, a long run of the first draw
    must also be kept up with. Pools are tried in every split of a number, at most SPLITS of them,
    those first whose proportion is nearest to that of the last that did.

    Parameters
    ----------
    capacity : what `topology` carries; of which, for other numbers of servers, the routing and
        what moving a KV cache takes are used
    """
    load = number_in("load (requests in a clock unit)", load, 1e-6, 1e9)
    if capacity.rate is None:
        return Servers(capacity.label, load, None, ())
    seeds, tried, does = len(draws.seeds), {}, topology

    def carried(count: int) -> bool:
        nonlocal does
        if count not in tried:
            progress(len(tried) / (len(tried) + 2), f"{count} servers")
            tried[count] = 0
            for fleet in _fleets(does, count):
                met = _seeds_met(policy, params, draws, memory, load, objective, clock, fleet)
                tried[count] = max(tried[count], met)
                if met == seeds:
                    does = fleet
                    break
        return tried[count] == seeds

    least = 2 if topology.pools else 1
    count = first_guess(load, capacity, topology)
    most = min(MOST_REPLICAS, 2 * count + 8)
    while count > least and carried(count - 1):
        count -= 1
    while count <= most and not carried(count):
        count += 1
    if count > most:
        return Servers(capacity.label, load, None, tuple(tried.items()))
    return Servers(capacity.label, load, count, tuple(tried.items()), does.pools)


def _fleets(like: Topology, count: int) -> list[Topology]:
    """So many servers; pools in their splits, nearest to the proportion of `like` first."""
    if like.pools is None:
        return [replace(like, replicas=count)]
    share = like.pools[0] / like.servers
    splits = sorted(range(1, count), key=lambda prefill: abs(prefill / count - share))
    return [replace(like, pools=(prefill, count - prefill)) for prefill in splits[:SPLITS]]


def fewest_servers_each(
    found: Sequence[Capacity],
    draws: Draws,
    memory: int,
    load: float,
    objective: Objective = Objective(),  # noqa: B008  (immutable)
    clock: Clock = ROUNDS,
    topology: Topology = ONE_SERVER,
    on: str = HERE,
    progress: Progress = silent,
) -> list[Servers]:
    """`fewest_servers` of each policy whose capacity was found, in that order."""
    shared = (draws, memory, load, objective, clock, topology)
    counted = dict(run_all(Sweep(_servers_of, shared, list(found)), on, progress))
    return [counted[number] for number in range(len(found))]


def _servers_of(shared: tuple, capacity: Capacity, progress: Progress) -> Servers:
    draws, memory, load, objective, clock, topology = shared
    policy, params = find_policy(capacity.policy), dict(capacity.params)
    given = (policy, params, draws, memory, load, capacity, objective, clock, topology)
    return fewest_servers(*given, progress)


def first_guess(load: float, capacity: Capacity, topology: Topology = ONE_SERVER) -> int:
    """The load over what one server carries, rounded up."""
    each = capacity.rate / topology.servers
    least = 2 if topology.pools else 1
    return min(MOST_REPLICAS, max(least, math.ceil(load / each - 1e-9)))


def _seeds_met(policy, params, draws, memory, load, objective, clock, fleet) -> int:
    """In how many draws the fleet meets the objective, none beyond the first in which not."""

    def run(seed: int, each: int) -> Run:
        workload = draws.at(load, seed, each * fleet.servers)
        return fleet.run(policy, workload, memory, clock=clock, **params)

    try:
        for met, seed in enumerate(draws.seeds):
            if not objective.met_by(run(seed, requests_each(draws))):
                return met
        lasts = requests_each(draws) >= STEADY or keeps_up(run(draws.seeds[0], STEADY))
    except Livelock:
        return 0
    return len(draws.seeds) if lasts else 0


def requests_each(draws: Draws) -> int:
    """Requests for one server; with a horizon they follow from the load."""
    is_by_horizon = isinstance(draws.source, Scenario) and draws.source.horizon is not None
    return 0 if is_by_horizon else len(draws.present)


def seconds(policy: Policy, draws: Draws, count: int, topology: Topology = ONE_SERVER) -> float:
    """How long `fewest_servers` takes around `count` servers, roughly."""
    n = count * len(draws.present)
    fleet = _fleets(topology, count)[0]
    return USUAL_FLEETS * len(draws.seeds) * fleet.cost(policy, n)
