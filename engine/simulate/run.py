"""What a simulation returns: the facts of one run, and no statistics.

Events are counted in rounds on every clock, because that is what scheduling and memory
go by. A run in seconds also has a timetable, which says when each round began and ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from engine import wording
from engine.errors import InputError
from engine.machine.clock import ROUNDS, Clock
from engine.simulate.arrival_queue import GAVE_UP, TURNED_AWAY
from engine.simulate.timetable import Timetable
from engine.workload import Workload


def visible_rounds(arrival: np.ndarray) -> np.ndarray:
    """(n,) int64: the first round at whose start each request is known (docs/model.md 1.1)."""
    return np.ceil(arrival).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Residencies:
    """The periods that requests spent in memory, in order of their begin.

    A request that keeps its KV cache and is prefilled at once has one stay. Every return
    to memory begins another, and so does every change between growing and standing still
    (a prompt that is prefilled in chunks, a pause, memory held after the last token).

    Attributes
    ----------
    request : (k,) int64, index into the workload
    begin, end : (k,) int64, rounds; memory is held at the end of rounds begin+1 .. end
    held : (k,) int64, tokens in memory at the begin, those prefilled then included
    grows : (k,) int64, tokens a round adds: held + j * grows are in memory at the end of
        round begin + j
    """

    request: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    held: np.ndarray
    grows: np.ndarray


@dataclass(frozen=True, eq=False)
class Preemptions:
    """What requests lost by giving up their KV cache.

    Attributes
    ----------
    count : (n,) int64, how often each request gave it up
    recomputed : (n,) int64, tokens prefilled or generated a second time
    """

    count: np.ndarray
    recomputed: np.ndarray


@dataclass(frozen=True, eq=False)
class Unserved:
    """Those who fitted and left without having been served.

    Attributes
    ----------
    row : (m,) int64, trace rows
    gave_up : (m,) bool; the others were turned away
    """

    row: np.ndarray
    gave_up: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def in_words(self) -> str:
        """How many gave up and were turned away."""
        gave_up = int(self.gave_up.sum())
        both = {"gave up": gave_up, "were turned away": len(self) - gave_up}
        return " and ".join(f"{wording.count(n)} {what}" for what, n in both.items() if n)


NOBODY = Unserved(np.empty(0, np.int64), np.empty(0, bool))


@dataclass(frozen=True, eq=False)
class Run:
    """One policy on one workload.

    Attributes
    ----------
    workload : the requests that were served (those with s + o > M are not among them)
    memory : M, tokens
    start : (n,) int64, the decision that first admitted each request, in rounds
    finish : (n,) int64, the round whose end completed it
    first : (n,) int64, the round whose end delivered the first token; None: start + 1
    logged : every stay in memory; None: one from start to finish each
    preempted : what was lost; None: no request gave up its KV cache
    cut_prompts : whether any prompt was prefilled in chunks
    timetable : when the rounds were, in seconds; None in the rounds clock
    order : (n,) int64, the fixed order of request indices the policy walked, if it has one
    skip : how many waiting requests its walk may pass over
    planned : (n,) int64, the outputs that look-ahead reckoned with; None: the true ones, or
        no look-ahead
    set_aside : (m,) int64, trace rows that cannot run in M, or are too long
    too_long : how many of these are above max_model_len
    unserved : those who gave up or were turned away
    left : while they are still in the workload, in what `Policy.simulate` returns: (n,) int8,
        who GAVE_UP or was TURNED_AWAY; their times mean nothing. None: all were served
    policy, params, clock : what produced this run
    """

    workload: Workload
    memory: int
    start: np.ndarray
    finish: np.ndarray
    first: np.ndarray | None = None
    logged: Residencies | None = None
    preempted: Preemptions | None = None
    cut_prompts: bool = False
    timetable: Timetable | None = None
    order: np.ndarray | None = None
    skip: int = 0
    planned: np.ndarray | None = None
    set_aside: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    too_long: int = 0
    unserved: Unserved = NOBODY
    left: np.ndarray | None = None
    policy: str = ""
    params: dict = field(default_factory=dict)
    clock: Clock = ROUNDS

    @property
    def unit(self) -> str:
        """What its times are in."""
        return self.clock.unit

    @property
    def parts(self) -> tuple[Run, ...]:
        """The runs of single servers that it consists of."""
        return (self,)

    @property
    def replicas(self) -> int:
        """Over how many servers its requests could be spread."""
        return 1

    @cached_property
    def residencies(self) -> Residencies:
        """Every period in memory, in order of begin."""
        if self.logged is not None:
            return self.logged
        by_start = np.argsort(self.start, kind="stable")
        by_start = by_start[self.is_served[by_start]]
        return Residencies(
            by_start,
            self.start[by_start],
            self.finish[by_start],
            self.workload.prompt[by_start],
            np.ones(len(by_start), np.int64),
        )

    @property
    def offered(self) -> int:
        """How many requests came that could have been served."""
        return len(self.workload) + len(self.unserved)

    @cached_property
    def is_served(self) -> np.ndarray:
        """(n,) bool, of the requests of the workload."""
        if self.left is None:
            return np.ones(len(self.workload), bool)
        return (self.left != GAVE_UP) & (self.left != TURNED_AWAY)

    @cached_property
    def gone_at(self) -> np.ndarray:
        """(n,): when each request had finished, given up or been turned away, in clock units."""
        arrival, served = self.workload.arrival, self.is_served
        gone = arrival.copy()
        gone[served] = self.ends(self.finish[served])
        if self.left is not None:
            gone[self.left == GAVE_UP] += self.workload.admission_limits.patience
        return gone

    def served(self) -> Run:
        """The run of those who were served; the others are listed apart.

        Raises
        ------
        InputError
            When nobody was.
        """
        if self.left is None:
            return self
        which = np.flatnonzero(self.is_served)
        gone = ~self.is_served
        unserved = Unserved(self.workload.row[gone], self.left[gone] == GAVE_UP)
        if not len(which):
            raise InputError(
                f"nobody is served: of {wording.count(len(gone))} requests "
                f"{unserved.in_words()}; raise the patience or the queue limit"
            )
        place = np.cumsum(self.is_served) - 1
        lost = self.preempted
        return replace(
            self,
            workload=self.workload.take(which),
            start=self.start[which],
            finish=self.finish[which],
            first=None if self.first is None else self.first[which],
            logged=self.logged and replace(self.logged, request=place[self.logged.request]),
            preempted=lost and Preemptions(lost.count[which], lost.recomputed[which]),
            order=None if self.order is None else place[self.order[self.is_served[self.order]]],
            planned=None if self.planned is None else self.planned[which],
            unserved=unserved,
            left=None,
        )

    def only(self, which: np.ndarray, begin: int) -> Run:
        """What the requests at these indices did, as a run in rounds counted from `begin`.

        Others may have held memory meanwhile: as far as this run tells, it stood empty.
        """
        place = np.full(len(self.workload), -1)
        place[which] = np.arange(len(which))
        residencies = self.residencies
        of = place[residencies.request] >= 0
        logged = Residencies(
            place[residencies.request[of]],
            residencies.begin[of] - begin,
            residencies.end[of] - begin,
            residencies.held[of],
            residencies.grows[of],
        )
        workload = self.workload.take(which)
        return Run(
            replace(workload, arrival=workload.arrival - begin),
            self.memory * self.replicas,
            self.start[which] - begin,
            self.finish[which] - begin,
            logged=logged,
        )

    @property
    def first_token(self) -> np.ndarray:
        """(n,) int64: the round whose end delivered the first token; preemption never resets it."""
        return self.start + 1 if self.first is None else self.first

    @property
    def preemptions(self) -> np.ndarray:
        """(n,) int64: how often each request gave up its KV cache."""
        if self.preempted is None:
            return np.zeros(len(self.workload), np.int64)
        return self.preempted.count

    @property
    def recomputed(self) -> np.ndarray:
        """(n,) int64: tokens prefilled or generated a second time."""
        if self.preempted is None:
            return np.zeros(len(self.workload), np.int64)
        return self.preempted.recomputed

    @property
    def gave_up_kv(self) -> bool:
        """Whether any request lost its KV cache: decides which bounds cover this run."""
        return self.preempted is not None

    def begins(self, decision: np.ndarray) -> np.ndarray:
        """When the round after each decision (in rounds) began, in clock units."""
        return decision if self.timetable is None else self.timetable.begins(decision)

    def ends(self, rounds: np.ndarray) -> np.ndarray:
        """When each of the given rounds ended, in clock units."""
        return rounds if self.timetable is None else self.timetable.ends(rounds)

    def decisions_before(self, moment: float) -> int:
        """How many rounds had ended at a moment in clock units."""
        if self.timetable is None:
            return int(moment)
        return int(self.timetable.rounds_ended(moment))

    @cached_property
    def seen(self) -> np.ndarray:
        """(n,) int64: the first decision, in rounds, that knew each request."""
        arrival = self.workload.arrival
        if self.timetable is None:
            return visible_rounds(arrival)
        return self.timetable.decisions_after(arrival)

    @cached_property
    def started_at(self) -> np.ndarray:
        """(n,): when each request first started, in clock units."""
        return self.begins(self.start)

    @cached_property
    def first_token_at(self) -> np.ndarray:
        """(n,): when each request's first token was there, in clock units."""
        return self.ends(self.first_token)

    @cached_property
    def finished_at(self) -> np.ndarray:
        """(n,): when each request was complete, in clock units."""
        return self.ends(self.finish)

    @cached_property
    def latency(self) -> np.ndarray:
        """(n,) float64: completion minus true arrival, in clock units."""
        return self.finished_at - self.workload.arrival
