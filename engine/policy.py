"""What a policy declares, and the registry that finds every policy file.

A policy is one file in engine/policies. It declares itself with one of the
decorators and is then in the sidebar, on the command line, in the tests and on
the About page; nothing else has to be touched.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from engine.decisions.account import Account
from engine.decisions.decision import Decision
from engine.decisions.inside import Inside
from engine.decisions.plans import along_walk
from engine.engines import IDEAL, Engine
from engine.errors import InputError
from engine.machine.clock import ROUNDS, Clock
from engine.policy_parameters import MARGIN, SKIP, Param
from engine.progress import Progress, silent, when_found
from engine.registry import Registry
from engine.simulate.in_engine import in_engine, steps_of
from engine.simulate.predicted_lengths import in_order
from engine.simulate.preempting import admission_limit
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule, Walk
from engine.workload import Workload, check_memory, set_aside

GROUPS = ("classic", "provable", "deployed", "ours")
INSIDE = 5e-6  # seconds a request that an engine takes, roughly
QUICK = 0.050  # seconds: policies that take less run unasked

Serve = Callable[[Workload, Progress], Schedule]


@dataclass(frozen=True)
class Policy:
    """A scheduling policy and its declared properties (docs/model.md 2).

    Attributes
    ----------
    key, title, rule, source : the name users type, the name they read, one sentence, a citation
    group : one of GROUPS, for the sidebar
    simulate : (workload, memory, clock, progress, **params) -> Schedule, for requests that
        all fit
    cost : seconds it takes for n requests, roughly; decides what runs unasked
    params : what a user may set
    reconstructed : the rule was rebuilt from summaries, not read in its source
    offline : ranks all requests at once, also those that have not arrived
    uses_lengths : needs (predicted) output lengths
    may_give_up_kv : may preempt although predictions are right, so that not every bound covers
        its runs; where they are wrong, every policy that uses lengths may
    timed : stops by the clock, so that two runs that it stops may differ
    waits_for_more : holds requests back for others, while others are due
    usable : (memory, params) -> the tokens of M that one request can have
    settle_params : (workload, params) -> the params with what follows from all requests
        together, before they are shared out among servers
    account : what its rule saw at a decision, for stories; None: they give no reasons
    swaps : params -> whether KV cache that is given up is moved out and back, not dropped
    order : where it is an order that needs no knowledge of later arrivals, so that it can run in
        any engine: (workload, memory, clock, progress, params) -> (n,) request indices, first
        choice first
    order_uses_lengths : whether the order does, or only the look-ahead
    engine : the one inside which it runs
    """

    key: str
    title: str
    rule: str
    source: str
    group: str
    simulate: Callable[..., Schedule]
    cost: Callable[[int], float]
    params: tuple[Param, ...] = ()
    reconstructed: bool = False
    offline: bool = False
    uses_lengths: bool = True
    may_give_up_kv: bool = False
    timed: bool = False
    waits_for_more: bool = False
    usable: Callable[[int, Mapping], int] = lambda memory, params: memory
    settle_params: Callable[[Workload, Mapping], Mapping] = lambda workload, params: params
    account: Callable[[Decision], Account] | None = None
    swaps: Callable[[Mapping], bool] = lambda params: False
    order: Callable[..., np.ndarray] | None = None
    order_uses_lengths: bool = True
    engine: Engine = IDEAL

    def __reduce__(self):
        """Pickled by its key: the registry of another process has the same policy."""
        return _policy_inside, (self.key, self.engine)

    def inside(self, engine: Engine) -> Policy:
        """The same order in an engine, which admits and preempts by its own rule.

        Raises
        ------
        InputError
            Where the policy is no order, or ranks requests that have not arrived.
        """
        if engine == self.engine:
            return self
        if self.order is None:
            why = "ranks requests that have not arrived" if self.offline else "is no order"
            raise InputError(
                f"{self.key} {why} and runs in the ideal engine only: leave out --engine "
                f"{engine.profile}, or use {', '.join(orders())}"
            )
        return replace(
            self,
            simulate=partial(_simulate_inside, self.order, engine),
            params=tuple(param for param in self.params if param not in (SKIP, MARGIN)),
            uses_lengths=self.order_uses_lengths,
            may_give_up_kv=engine.preempts,
            usable=lambda memory, params: engine.usable(memory),
            account=partial(_account_inside, self.order, engine),
            cost=lambda n: INSIDE * n,
            engine=engine,
        )

    def label(self, params: Mapping) -> str:
        """`svf`, or `svf skip=5` where a parameter is not at its default."""
        defaults = {param.name: param.default for param in self.params}
        changed = [f"{k}={v:g}" for k, v in params.items() if v != defaults.get(k)]
        return " ".join([self.key, *changed])

    def read_params(self, values: Mapping) -> dict[str, float]:
        """Every parameter's value: those given checked, the others at their default."""
        known = {param.name: param for param in self.params}
        for name in values:
            if name not in known:
                has = ", ".join(known) or "none"
                raise InputError(f"policy {self.key} has no parameter {name} (it has: {has})")
        return {
            name: param.read(values.get(name, param.default), self.key)
            for name, param in known.items()
        }

    def run(
        self,
        workload: Workload,
        memory: int,
        clock: Clock = ROUNDS,
        progress: Progress = silent,
        **params,
    ) -> Run:
        """Serve the requests on one server; those that can never fit in M are set aside.

        Raises
        ------
        InputError
            For a bad M or parameter, or when no request fits in M or nobody is served.
        """
        checked = self.read_params(params)

        def serve(fitting: Workload, progress: Progress) -> Schedule:
            return self.schedule(fitting, memory, clock, progress, checked)

        return self.run_fitting(workload, memory, clock, checked, serve, progress)

    def schedule(
        self,
        workload: Workload,
        memory: int,
        clock: Clock,
        progress: Progress,
        params: Mapping[str, float],
    ) -> Schedule:
        """Schedule requests that all fit, on one server; those who left are still among them."""
        settled = self.settle_params(workload, params)
        return replace(self.simulate(workload, memory, clock, progress, **settled), settled=settled)

    def run_fitting(
        self,
        workload: Workload,
        memory: int,
        clock: Clock,
        params: Mapping[str, float],
        serve: Serve,
        progress: Progress,
    ) -> Run:
        """Set aside the requests that can never run, let the others be served, say what came.

        Parameters
        ----------
        params : every parameter's value, checked
        serve : schedules requests that all fit, and tells its progress

        Raises
        ------
        InputError
            For a bad M, or when no request fits in M or nobody is served.
        """
        fitting, aside = set_aside(workload, self.usable(check_memory(memory), params))
        too_long = int(workload.is_too_long.sum())

        def settled(schedule: Schedule) -> Run:
            served = schedule.served()
            return Run(served, self.key, params, clock, aside, too_long, self.engine)

        return settled(serve(fitting, when_found(progress, settled)))


def _simulate_inside(
    order: Callable[..., np.ndarray], engine: Engine, workload, memory, clock, progress, **params
) -> Schedule:
    """Run an order in an engine."""
    in_turn = order(workload, engine.whole_blocks(memory), clock, progress, params)
    steps = steps_of(engine, workload, memory, in_turn)
    return in_engine(workload, memory, in_turn, steps, clock, progress)


def _account_inside(
    order: Callable[..., np.ndarray], engine: Engine, decision: Decision
) -> Account:
    """What the engine saw of those who wait."""
    workload, memory = decision.workload, decision.memory
    in_turn = order(
        workload, engine.whole_blocks(memory), decision.clock, silent, dict(decision.params)
    )
    rank = np.empty(len(in_turn), np.int64)
    rank[in_turn] = np.arange(len(in_turn))
    return Inside(decision, steps_of(engine, workload, memory, in_turn), rank).account()


def _policy_inside(key: str, engine: Engine) -> Policy:
    return find_policy(key).inside(engine)


POLICIES: Registry[Policy] = Registry("engine.policies", "policies")


def policy(**declared):
    """Register the decorated function, `Policy.simulate`, as a policy."""

    def register(simulate):
        declared_policy = Policy(simulate=simulate, **declared)
        if declared_policy.group not in GROUPS:
            raise ValueError(f"{declared_policy.key}: group must be one of {GROUPS}")
        POLICIES[declared_policy.key] = declared_policy
        return simulate

    return register


def ordered_policy(*, params: tuple[Param, ...] = (), believes: str = "expected", **declared):
    """Register a policy that is nothing but an order, run under look-ahead admission.

    The decorated function takes a workload, whose outputs are the predicted ones, and memory
    or progress if it names them, and returns the (n,) order of request indices, first choice
    first. The policy gets the parameters `skip` and `margin`.

    Parameters
    ----------
    believes : the predictions that it takes for the truth: `expected`, `at_least` or `at_most`
    """

    def register(order: Callable[..., np.ndarray]):
        wanted = set(inspect.signature(order).parameters)

        def ranked(workload, memory, clock, progress, rest):
            offered = {"memory": memory, "clock": clock, "progress": progress, **rest}
            seen = workload.believing(getattr(workload, believes), memory)
            return order(seen, **{k: v for k, v in offered.items() if k in wanted}), seen.output

        def simulate(workload, memory, clock, progress, skip, margin, **rest):
            in_turn, planned = ranked(workload, memory, clock, progress, rest)
            walk, limit = Walk(in_turn, skip, planned), admission_limit(memory, margin)
            return in_order(workload, memory, walk, limit, clock, progress)

        anywhere = None if declared.get("offline") else lambda *asked: ranked(*asked)[0]
        policy(params=(*params, SKIP, MARGIN), account=along_walk, order=anywhere, **declared)(
            simulate
        )
        return order

    return register


def find_policy(key: str) -> Policy:
    """The policy called `key`; InputError names the ones there are."""
    if key not in POLICIES:
        raise InputError(f"unknown policy {key}: choose from {', '.join(POLICIES)}")
    return POLICIES[key]


def orders() -> list[str]:
    """The keys of the policies that are orders and run in any engine."""
    return [key for key, declared in POLICIES.items() if declared.order]


def quick_policies(n: int, below: float = QUICK) -> list[str]:
    """The keys of the policies whose declared cost at n requests is below `below` seconds."""
    return [key for key, declared in POLICIES.items() if declared.cost(n) < below]
