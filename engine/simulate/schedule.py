"""What a policy scheduled: facts of rounds and the timetable of these, and no statistics.

Events are counted in rounds on every clock, because that is what scheduling and memory
go by. A schedule in seconds also has a timetable, which says when each round began and ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, overload

import numpy as np

from engine import wording
from engine.errors import InputError
from engine.simulate.arrival_queue import GAVE_UP, TURNED_AWAY
from engine.simulate.timetable import Timetable
from engine.simulate.unserved import NOBODY, Unserved
from engine.workload import Workload


def visible_rounds(arrival: np.ndarray) -> np.ndarray:
    """(n,) int64: the first round at whose start each request is known (DESIGN 1.1)."""
    return np.ceil(arrival).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Residencies:
    """The periods that requests spent in memory, in order of their begin.

    A request that keeps its KV cache and is prefilled at once has one residency. Every return
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

    def of(self, place: np.ndarray, begin: int = 0) -> Residencies:
        """Those of some requests, with rounds counted from `begin`.

        Parameters
        ----------
        place : (n,) int64, the index that each request has from now on; -1: left out
        """
        kept = place[self.request] >= 0
        return Residencies(
            place[self.request[kept]],
            self.begin[kept] - begin,
            self.end[kept] - begin,
            self.held[kept],
            self.grows[kept],
        )


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
class Walk:
    """How a list policy goes through those who wait, under look-ahead.

    Attributes
    ----------
    order : (n,) int64, request indices, first choice first
    skip : how many waiting requests that do not fit it may pass over
    planned : (n,) int64, the outputs that look-ahead reckoned with; None: the true ones
    """

    order: np.ndarray
    skip: int = 0
    planned: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Schedule:
    """When a policy let each request of a workload run, on one server.

    Attributes
    ----------
    workload : the requests, each of which fits; in a closed loop with their arrivals as they came
    memory : M, tokens
    start : (n,) int64, the decision that first admitted each request, in rounds
    finish : (n,) int64, the round whose end completed it
    first : (n,) int64, the round whose end delivered the first token; None: start + 1
    logged : every residency; None: one from start to finish each
    preempted : what was lost; None: no request gave up its KV cache
    cut_prompts : whether any prompt was prefilled in chunks
    timetable : when the rounds were, in seconds; None in the rounds clock
    walk : the order that the policy walked under look-ahead, if it has one
    left : (n,) int8, who GAVE_UP or was TURNED_AWAY, whose times mean nothing; None: nobody.
        So policies return it; `served` takes these requests out
    unserved : those who were taken out
    with_unserved : the schedule in which they still are; None: this one
    settled : the parameters that the policy ran with, where `settle_params` may have changed it
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
    walk: Walk | None = None
    left: np.ndarray | None = None
    unserved: Unserved = NOBODY
    with_unserved: Schedule | None = None
    settled: Mapping[str, float] = field(default_factory=dict)

    @property
    def whole(self) -> Schedule:
        """With those who left unserved still in it."""
        return self if self.with_unserved is None else self.with_unserved

    @property
    def parts(self) -> tuple[Schedule, ...]:
        """The schedules of single servers that it consists of."""
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

    @cached_property
    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """The residencies in which a request stays in memory, and those in which it goes on.

        Two (m,) int64 of indices: at the end of the former, its request holds as many tokens,
        and grows from then on or ceases to. Where it only grows on, it was dropped and admitted
        again in one decision, or paused for no round, as which its preemptions tell. Where a
        request was away as often as it was preempted, it stayed at all other ends.
        """
        log = self.residencies
        by_request = np.argsort(log.request, kind="stable")
        first, then = by_request[:-1], by_request[1:]
        same = log.request[first] == log.request[then]
        held = log.held[first] + log.grows[first] * (log.end[first] - log.begin[first])
        stays = same & (log.end[first] == log.begin[then]) & (held == log.held[then])
        changes = stays & (log.grows[first] != log.grows[then])
        away = np.bincount(
            log.request[first[same & (log.end[first] < log.begin[then])]],
            minlength=len(self.workload),
        )
        stayed = same & (log.end[first] == log.begin[then])
        stayed &= (away == self.preemptions)[log.request[first]]
        breaks = np.bincount(log.request[first[same & ~changes]], minlength=len(self.workload))
        paused = (breaks > self.preemptions)[log.request[first]]
        goes_on = changes | (stays & paused) | stayed
        return first[goes_on], then[goes_on]

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
        """Whether any request lost its KV cache: decides which bounds cover this schedule."""
        return self.preempted is not None

    @overload
    def begins(self, decision: int) -> float: ...
    @overload
    def begins(self, decision: np.ndarray) -> np.ndarray: ...
    def begins(self, decision):
        """When the round after each decision (in rounds) began, in clock units."""
        return decision if self.timetable is None else self.timetable.begins(decision)

    @overload
    def ends(self, rounds: int) -> float: ...
    @overload
    def ends(self, rounds: np.ndarray) -> np.ndarray: ...
    def ends(self, rounds):
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

    def served(self) -> Self:
        """The schedule of those who were served; the others are listed apart.

        Raises
        ------
        InputError
            When nobody was.
        """
        if self.left is None:
            return self
        which = np.flatnonzero(self.is_served)
        gone = ~self.is_served
        of = self.workload
        unserved = Unserved(of.row[gone], self.left[gone] == GAVE_UP, of.class_of[gone])
        if not len(which):
            raise InputError(
                f"nobody is served: of {wording.counted(len(gone), 'request')} "
                f"{unserved.in_words()}; raise the patience or the queue limit"
            )
        place = np.where(self.is_served, np.cumsum(self.is_served) - 1, -1)
        lost = self.preempted
        return replace(
            self,
            workload=self.workload.take(which),
            start=self.start[which],
            finish=self.finish[which],
            first=None if self.first is None else self.first[which],
            logged=None if self.logged is None else self.logged.of(place),
            preempted=lost and Preemptions(lost.count[which], lost.recomputed[which]),
            walk=self.walk and self._walk_of_served(self.walk, place),
            left=None,
            unserved=unserved,
            with_unserved=self,
        )

    def _walk_of_served(self, walk: Walk, place: np.ndarray) -> Walk:
        order = place[walk.order]
        planned = None if walk.planned is None else walk.planned[self.is_served]
        return Walk(order[order >= 0], walk.skip, planned)

    def only(self, which: np.ndarray, begin: int) -> Schedule:
        """What the requests at these indices did, in rounds counted from `begin`.

        Others may have held memory meanwhile: as far as this schedule tells, it stood empty.
        """
        place = np.full(len(self.workload), -1)
        place[which] = np.arange(len(which))
        workload = self.workload.take(which)
        return Schedule(
            replace(workload, arrival=workload.arrival - begin),
            self.memory * self.replicas,
            self.start[which] - begin,
            self.finish[which] - begin,
            logged=self.residencies.of(place, begin),
        )
