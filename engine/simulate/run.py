"""What became of the requests: a schedule, the choice that made it, and who is not in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np

from engine.choice import Choice
from engine.machine.clock import ROUNDS, Clock
from engine.progress import Progress, when_found
from engine.simulate.schedule import Residencies, Schedule
from engine.simulate.timetable import Timetable
from engine.simulate.unserved import Unserved
from engine.workload import Workload, check_memory, set_aside


@dataclass(frozen=True, eq=False)
class Run:
    """One policy on one workload.

    Attributes
    ----------
    schedule : of the requests that were served
    choice : the policy and its parameters; None: an order made by hand
    clock : on which it ran
    set_aside : (m,) int64, trace rows that cannot run in M, or are too long
    too_long : how many of these are above max_model_len
    """

    schedule: Schedule
    choice: Choice | None = None
    clock: Clock = ROUNDS
    set_aside: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    too_long: int = 0

    @property
    def policy(self) -> str:
        """The policy's key; empty where there is none."""
        return "" if self.choice is None else self.choice.key

    @property
    def params(self) -> dict[str, float]:
        """Every parameter of the policy, by name."""
        return {} if self.choice is None else self.choice.values

    @property
    def unit(self) -> str:
        """What its times are in."""
        return self.clock.unit

    @property
    def offered(self) -> int:
        """How many requests came that could have been served."""
        return len(self.workload) + len(self.unserved)

    @cached_property
    def parts(self) -> tuple[Run, ...]:
        """The runs of single servers that it consists of."""
        schedules = self.schedule.parts
        if schedules == (self.schedule,):
            return (self,)
        return tuple(Run(schedule, self.choice, self.clock) for schedule in schedules)

    # What readers ask of a run and its schedule has, under the same names (schedule.py says
    # what they are): who is served, on how much memory and over how many servers,

    @property
    def workload(self) -> Workload:
        return self.schedule.workload

    @property
    def memory(self) -> int:
        return self.schedule.memory

    @property
    def replicas(self) -> int:
        return self.schedule.replicas

    @property
    def unserved(self) -> Unserved:
        return self.schedule.unserved

    # what happened, in rounds,

    @property
    def start(self) -> np.ndarray:
        return self.schedule.start

    @property
    def finish(self) -> np.ndarray:
        return self.schedule.finish

    @property
    def first_token(self) -> np.ndarray:
        return self.schedule.first_token

    @property
    def seen(self) -> np.ndarray:
        return self.schedule.seen

    @property
    def residencies(self) -> Residencies:
        return self.schedule.residencies

    # what was lost or cut, which decides about the bounds that cover it,

    @property
    def preemptions(self) -> np.ndarray:
        return self.schedule.preemptions

    @property
    def recomputed(self) -> np.ndarray:
        return self.schedule.recomputed

    @property
    def gave_up_kv(self) -> bool:
        return self.schedule.gave_up_kv

    @property
    def cut_prompts(self) -> bool:
        return self.schedule.cut_prompts

    # when it was, in clock units,

    @property
    def timetable(self) -> Timetable | None:
        return self.schedule.timetable

    @overload
    def begins(self, decision: int) -> float: ...
    @overload
    def begins(self, decision: np.ndarray) -> np.ndarray: ...
    def begins(self, decision):
        return self.schedule.begins(decision)

    @overload
    def ends(self, rounds: int) -> float: ...
    @overload
    def ends(self, rounds: np.ndarray) -> np.ndarray: ...
    def ends(self, rounds):
        return self.schedule.ends(rounds)

    @property
    def started_at(self) -> np.ndarray:
        return self.schedule.started_at

    @property
    def first_token_at(self) -> np.ndarray:
        return self.schedule.first_token_at

    @property
    def finished_at(self) -> np.ndarray:
        return self.schedule.finished_at

    @property
    def latency(self) -> np.ndarray:
        return self.schedule.latency

    # and how a list policy walked those who waited.

    @property
    def order(self) -> np.ndarray | None:
        return None if self.schedule.walk is None else self.schedule.walk.order

    @property
    def skip(self) -> int:
        return 0 if self.schedule.walk is None else self.schedule.walk.skip

    @property
    def planned(self) -> np.ndarray | None:
        return None if self.schedule.walk is None else self.schedule.walk.planned


Serve = Callable[[Workload, Progress], Schedule]


def run_fitting(
    choice: Choice, workload: Workload, memory: int, clock: Clock, serve: Serve, progress: Progress
) -> Run:
    """Set aside the requests that can never run, let the others be served, say what came of all.

    Parameters
    ----------
    serve : schedules requests that all fit, and tells its progress

    Raises
    ------
    InputError
        For a bad M, or when no request fits in M or nobody is served.
    """
    usable = choice.policy.usable(check_memory(memory), choice.values)
    fitting, aside = set_aside(workload, usable)
    too_long = int(workload.is_too_long.sum())

    def settled(schedule: Schedule) -> Run:
        return Run(schedule.served(), choice, clock, aside, too_long)

    return settled(serve(fitting, when_found(progress, settled)))


def run_alone(
    choice: Choice, workload: Workload, memory: int, clock: Clock, progress: Progress
) -> Run:
    """Run a policy on one server; errors as for `run_fitting`."""

    def serve(fitting: Workload, progress: Progress) -> Schedule:
        return choice.schedule(fitting, memory, clock, progress)

    return run_fitting(choice, workload, memory, clock, serve, progress)
