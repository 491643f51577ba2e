"""Several replicas behind a router, and pools that prefill and decode apart.

A router sees requests as they arrive and sends each to one replica for good. Round-robin
needs no state. The others look at the replicas at the moment of the arrival, which a
policy's finished run cannot know; but until the next request reaches it, a replica does
what its run so far says. So each replica is simulated again with every request it gets,
from the last moment at which it was empty, and asked for its state at the next arrival.
That is exact for every policy that does not know the future, and needs nothing of it but
`run`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from engine.clock import ROUNDS, Clock
from engine.errors import InputError
from engine.fields import number_in
from engine.policy import Policy
from engine.progress import Progress, silent
from engine.simulate.run import Preemptions, Run
from engine.timeline import held_at
from engine.workload import Workload, check_memory, set_aside

MOST_REPLICAS = 1000
ONE_MORE_RUN = 4e-4  # seconds a run takes however few requests it has
MOST_ROUTED = 20_000  # requests, where each arrival asks the replicas for their state


@dataclass(frozen=True, eq=False)
class FleetRun(Run):
    """One policy on every replica of a fleet, request by request like a single run.

    Attributes
    ----------
    start, finish, first : (n,) int64, rounds of the replica that served the request
    runs : each replica's run; those that got no request are left out
    replica : (n,) int64, index into `runs`
    routing : how requests were sent
    of : how many replicas there were
    """

    runs: tuple[Run, ...] = ()
    replica: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    routing: str = ""
    of: int = 1

    @property
    def replicas(self) -> int:
        return self.of

    @property
    def parts(self) -> tuple[Run, ...]:
        return self.runs

    def merged(self, of: Callable[[Run], np.ndarray]) -> np.ndarray:
        """(n,) what `of` gives for the requests of each replica's run."""
        return _merge(self.runs, self.replica, of)

    @cached_property
    def started_at(self) -> np.ndarray:
        return self.merged(lambda run: run.started_at)

    @cached_property
    def first_token_at(self) -> np.ndarray:
        return self.merged(lambda run: run.first_token_at)

    @cached_property
    def finished_at(self) -> np.ndarray:
        return self.merged(lambda run: run.finished_at)


def _merge(runs, replica: np.ndarray, of: Callable[[Run], np.ndarray]) -> np.ndarray:
    """(n,) the values that `of` gives for each replica's run, at the requests' places."""
    values = [np.asarray(of(run)) for run in runs]
    merged = np.empty(len(replica), np.result_type(*values))
    for number, value in enumerate(values):
        merged[replica == number] = value
    return merged


class Replica:
    """One replica as a router sees it: what it was sent, and how it stands."""

    def __init__(self, serve: Callable[[np.ndarray], Run]) -> None:
        self._serve = serve
        self.sent: list[int] = []  # since it was last empty
        self._run: Run | None = None

    def send(self, i: int) -> None:
        self.sent.append(i)
        self._run = None

    def at(self, moment: float) -> tuple[Run | None, np.ndarray]:
        """Its run and the bool of who of those sent have not finished at that moment."""
        if self.sent and self._run is None:
            self._run = self._serve(np.array(self.sent))
        if self._run is None:
            return None, np.empty(0, bool)
        there = self._run.finished_at > moment
        if not there.any():  # empty: what comes next is a new beginning
            self.sent, self._run = [], None
        return self._run, there


def _requests(replica: Replica, moment: float) -> float:
    """How many requests it has, running or waiting."""
    return float(replica.at(moment)[1].sum())


def _tokens(replica: Replica, moment: float) -> float:
    """The tokens it holds after the last round that ended, and the prompts of all others."""
    run, there = replica.at(moment)
    if run is None:
        return 0.0
    holders, held = held_at(run, run.decisions_before(moment))
    others = there.copy()
    others[holders] = False
    return float(held[there[holders]].sum() + run.workload.prompt[others].sum())


ROUTINGS: dict[str, tuple[str, Callable[[Replica, float], float] | None]] = {
    "round-robin": ("In turn, whatever their state.", None),
    "least-loaded": ("To the replica with the fewest requests, running or waiting.", _requests),
    "join-shortest-memory": (
        "To the replica that holds the fewest tokens, prompts of those waiting included.",
        _tokens,
    ),
}


def run_fleet(
    policy: Policy,
    params: dict,
    workload: Workload,
    memory: int,
    clock: Clock = ROUNDS,
    replicas: int = 1,
    routing: str = "round-robin",
    progress: Progress = silent,
) -> Run:
    """Run a policy on each of several replicas, each with memory M.

    Raises
    ------
    InputError
        For a bad number or routing, in a closed loop, or where a router that looks at the
        replicas has too many requests or a policy that knows the future.
    """
    replicas = number_in("replicas", replicas, 1, MOST_REPLICAS, whole=True)
    if routing not in ROUTINGS:
        raise InputError(f"unknown routing {routing}: choose from {', '.join(ROUTINGS)}")
    if replicas == 1:
        return policy.run(workload, memory, progress, clock, **params)
    if workload.concurrency:
        raise InputError("a closed loop runs on one replica: leave out the replicas")
    usable = policy.usable(check_memory(memory), policy.read_params(params))
    fitting, aside = set_aside(workload, usable)

    def serve(sent: np.ndarray) -> Run:
        return policy.run(fitting.take(sent), memory, silent, clock, **params)

    chosen = _route(policy, fitting, replicas, routing, serve, progress)
    used, replica = np.unique(chosen, return_inverse=True)
    runs = tuple(serve(np.flatnonzero(chosen == number)) for number in used)
    return _together(runs, replica, fitting, aside, memory, routing, replicas)


def _route(policy, workload, replicas, routing, serve, progress) -> np.ndarray:
    """(n,) int64: the replica of each request."""
    state = ROUTINGS[routing][1]
    in_turn = workload.ascending(workload.arrival)
    chosen = np.empty(len(workload), np.int64)
    if state is None:
        chosen[in_turn] = np.arange(len(workload)) % replicas
        return chosen
    if policy.offline or policy.waits_for_more:
        raise InputError(
            f"{policy.key} takes later arrivals into account, which {routing} cannot know: "
            "use round-robin"
        )
    if len(workload) > MOST_ROUTED:
        raise InputError(
            f"{routing} takes at most {MOST_ROUTED:,} requests, got {len(workload):,}: "
            "use round-robin"
        )
    servers = [Replica(serve) for _ in range(replicas)]
    for done, i in enumerate(in_turn.tolist()):
        moment = float(workload.arrival[i])
        loads = [state(server, moment) for server in servers]
        chosen[i] = int(np.argmin(loads))
        servers[chosen[i]].send(i)
        progress(done / len(workload))
    return chosen


def _together(runs, replica, workload, aside, memory, routing, of) -> FleetRun:
    """The replicas' runs as one."""
    first = runs[0]
    lost = None
    if any(run.gave_up_kv for run in runs):
        lost = Preemptions(
            _merge(runs, replica, lambda run: run.preemptions),
            _merge(runs, replica, lambda run: run.recomputed),
        )
    return FleetRun(
        workload,
        memory,
        _merge(runs, replica, lambda run: run.start),
        _merge(runs, replica, lambda run: run.finish),
        first=_merge(runs, replica, lambda run: run.first_token),
        preempted=lost,
        cut_prompts=any(run.cut_prompts for run in runs),
        set_aside=aside,
        policy=first.policy,
        params=first.params,
        clock=first.clock,
        runs=runs,
        replica=replica,
        routing=routing,
        of=of,
    )


@dataclass(frozen=True, eq=False)
class PoolRun(Run):
    """Requests prefilled in one pool of replicas and decoded in another.

    Attributes
    ----------
    prefill : the run in which each request yields its first token
    decode : the run of those with more tokens, from when their KV cache has been moved
    decoded : (m,) int64, which requests these are
    """

    prefill: Run | None = None
    decode: Run | None = None
    decoded: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def parts(self) -> tuple[Run, ...]:
        return self.prefill.parts + (self.decode.parts if self.decode is not None else ())

    @property
    def replicas(self) -> int:
        return self.prefill.replicas + (self.decode.replicas if self.decode is not None else 0)

    @property
    def gave_up_kv(self) -> bool:
        """KV cache that moves is like one that is swapped: not every bound covers it."""
        return True

    @cached_property
    def started_at(self) -> np.ndarray:
        return self.prefill.started_at

    @cached_property
    def first_token_at(self) -> np.ndarray:
        return self.prefill.finished_at

    @cached_property
    def finished_at(self) -> np.ndarray:
        finished = self.prefill.finished_at.astype(float)
        if self.decode is not None:
            finished[self.decoded] = self.decode.finished_at
        return finished


def run_pools(
    policy: Policy,
    params: dict,
    workload: Workload,
    memory: int,
    clock: Clock = ROUNDS,
    pools: tuple[int, int] = (1, 1),
    transfer: float = 0.0,
    routing: str = "round-robin",
    progress: Progress = silent,
) -> Run:
    """Prefill on some replicas, decode on others, the same policy on all.

    A request is served by the first pool for one token, its KV cache of s + 1 tokens moves
    in `transfer` clock units a token, and it goes on in the second pool as one that arrives
    with its cache. Moving takes no time of either replica.

    Parameters
    ----------
    pools : how many replicas prefill and how many decode
    """
    transfer = number_in("transfer (time a token)", transfer, 0, 1e6)
    if workload.concurrency:
        raise InputError("a closed loop runs on one replica: leave out the pools")
    usable = policy.usable(check_memory(memory), policy.read_params(params))
    fitting, aside = set_aside(workload, usable)
    n = len(fitting)
    first_tokens = fitting.believing(np.ones(n, np.int64), memory)  # one each, for certain
    both = (policy, params)
    half = (memory, clock)
    prefill = run_fleet(*both, first_tokens, *half, pools[0], routing, progress)
    decoded = np.flatnonzero(fitting.output > 1)
    decode, lost, recomputed = None, prefill.preemptions.copy(), prefill.recomputed.copy()
    if len(decoded):
        there = fitting.take(decoded)
        moved = replace(
            there,
            arrival=prefill.finished_at[decoded] + transfer * (there.prompt + 1),
            prompt=there.prompt + 1,
            output=there.output - 1,
            with_cache=True,
            **there.predictions_after(1),
        )
        decode = run_fleet(*both, moved, *half, pools[1], routing, progress)
        lost[decoded] += decode.preemptions
        recomputed[decoded] += decode.recomputed
    finish = prefill.finish.copy()
    if decode is not None:
        finish[decoded] = decode.finish
    return PoolRun(
        fitting,
        memory,
        prefill.start,
        finish,
        first=prefill.finish,
        preempted=Preemptions(lost, recomputed),
        set_aside=aside,
        policy=policy.key,
        params=prefill.params,
        clock=clock,
        prefill=prefill,
        decode=decode,
        decoded=decoded,
    )


@dataclass(frozen=True)
class Topology:
    """How many servers there are and how requests get to them.

    Attributes
    ----------
    replicas, routing : as in `run_fleet`
    pools, transfer : as in `run_pools`; None where every replica does everything
    """

    replicas: int = 1
    routing: str = "round-robin"
    pools: tuple[int, int] | None = None
    transfer: float = 0.0

    @property
    def servers(self) -> int:
        return sum(self.pools) if self.pools else self.replicas

    def takes(self, policy: Policy) -> bool:
        """Whether the policy can run here: routers that look must not be told the future."""
        looks = self.servers > 1 and ROUTINGS.get(self.routing, ("", None))[1] is not None
        return not (looks and (policy.offline or policy.waits_for_more))

    def cost(self, policy: Policy, n: int) -> float:
        """Seconds it takes for n requests, roughly."""
        if self.servers == 1:
            return policy.cost(n)
        if self.routing == "round-robin":
            return policy.cost(n) + ONE_MORE_RUN * self.servers
        each = n / max(self.pools or (self.replicas,))
        return n * (ONE_MORE_RUN + policy.cost(int(each)) / 2)

    def run(
        self,
        policy: Policy,
        workload: Workload,
        memory: int,
        progress: Progress = silent,
        clock: Clock = ROUNDS,
        **params,
    ) -> Run:
        """Run a policy on these servers; like `Policy.run` where there is one."""
        if self.pools:
            return run_pools(
                policy,
                params,
                workload,
                memory,
                clock,
                self.pools,
                self.transfer,
                self.routing,
                progress,
            )
        return run_fleet(
            policy, params, workload, memory, clock, self.replicas, self.routing, progress
        )

    def __str__(self) -> str:
        if self.pools:
            prefill, decode = self.pools
            return f"prefill on {prefill}, decoding on {decode} replica{'s' * (decode > 1)}"
        return "1 replica" if self.replicas == 1 else f"{self.replicas} replicas, {self.routing}"


ONE_SERVER = Topology()


def read_pools(text: str) -> tuple[int, int]:
    """`2:6` as two that prefill and six that decode; InputError otherwise."""
    parts = text.split(":")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise InputError(f"pools must look like 2:6 (prefill:decode), got {text!r}")
    both = [
        number_in(f"pools: replicas that {what}", int(part), 1, MOST_REPLICAS, whole=True)
        for what, part in zip(("prefill", "decode"), parts, strict=True)
    ]
    return both[0], both[1]
