"""What became of the requests: a schedule, the policy that made it, and who is not in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np

from engine.engines import IDEAL, Engine
from engine.machine.clock import ROUNDS, Clock
from engine.simulate.schedule import Residencies, Schedule
from engine.simulate.timetable import Timetable
from engine.simulate.unserved import Unserved
from engine.workload import Workload


@dataclass(frozen=True, eq=False)
class Run:
    """One policy on one workload.

    Attributes
    ----------
    schedule : of the requests that were served
    policy : the key of the policy that made it; empty: an order made by hand
    params : every parameter of the policy, by name
    clock : on which it ran
    set_aside : (m,) int64, trace rows that cannot run in M, or are too long
    too_long : how many of these are above max_model_len
    engine : what admitted and preempted
    """

    schedule: Schedule
    policy: str = ""
    params: Mapping[str, float] = field(default_factory=dict)
    clock: Clock = ROUNDS
    set_aside: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    too_long: int = 0
    engine: Engine = IDEAL

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
        return tuple(
            Run(schedule, self.policy, self.params, self.clock, engine=self.engine)
            for schedule in schedules
        )

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
