"""A policy with the parameters that it runs with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.engines import IDEAL, Engine
from engine.errors import InputError
from engine.machine.clock import Clock
from engine.policy import Policy, find_policy
from engine.progress import Progress
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule
from engine.workload import Workload


@dataclass(frozen=True)
class Choice:
    """One policy and a value for each of its parameters: hashable, equal where it runs the same.

    Attributes
    ----------
    key : the policy's
    params : (name, value) of every parameter, in the policy's order. Given are those that are
        not at their default, as pairs or as a mapping of texts or numbers
    engine : the one of the deployment in which it runs; ideal: of none yet

    Raises
    ------
    InputError
        For an unknown policy or parameter, or a value out of its range.
    """

    key: str
    params: tuple[tuple[str, float], ...] = ()
    engine: Engine = IDEAL

    def __post_init__(self) -> None:
        checked = self.policy.read_params(dict(self.params))
        object.__setattr__(self, "params", tuple(checked.items()))

    @property
    def policy(self) -> Policy:
        return find_policy(self.key).inside(self.engine)

    @property
    def values(self) -> dict[str, float]:
        """Every parameter's value, by name."""
        return dict(self.params)

    @property
    def label(self) -> str:
        """`svf`, or `svf skip=5` where a parameter is not at its default."""
        return self.policy.label(self.values)

    def schedule(
        self, workload: Workload, memory: int, clock: Clock, progress: Progress
    ) -> Schedule:
        """Schedule requests that all fit, on one server; those who left are still among them."""
        return self.policy.schedule(workload, memory, clock, progress, self.values)

    def changed(self, **params: float) -> Choice:
        """The same policy with other values for these parameters."""
        return Choice.of(self.key, {**self.values, **params})

    @classmethod
    def of(cls, key: str, params: Mapping | None = None) -> Choice:
        """The policy `key` with these parameters, the others at their default."""
        return cls(key, tuple((params or {}).items()))

    @classmethod
    def that_made(cls, run: Run) -> Choice | None:
        """The choice that a run was made under; None: an order made by hand."""
        return cls(run.policy, tuple(run.params.items()), run.engine) if run.policy else None

    def inside(self, engine: Engine) -> Choice:
        """The same in an engine.

        Raises
        ------
        InputError
            Where the policy cannot run there, or has a parameter of look-ahead set.
        """
        policy = find_policy(self.key)
        kept = {param.name for param in policy.inside(engine).params}
        defaults = {param.name: param.default for param in policy.params}
        for name, value in self.params:
            if name not in kept and value != defaults[name]:
                raise InputError(
                    f"{self.key}.{name} is of look-ahead, which the engine {engine.profile} does "
                    "not do: leave it out"
                )
        return Choice(self.key, tuple(pair for pair in self.params if pair[0] in kept), engine)
