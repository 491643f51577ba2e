"""What a simulation returns: the facts of one run, and no statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine.workload import Workload


def visible_rounds(arrival: np.ndarray) -> np.ndarray:
    """(n,) int64: the first round at whose start each request is known (DESIGN 1.1)."""
    return np.ceil(arrival).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Stays:
    """The periods that requests spent in memory, in order of their begin.

    A request that keeps its KV cache has one stay; every recompute or restart
    adds one.

    Attributes
    ----------
    request : (k,) int64, index into the workload
    begin, end : (k,) int64, rounds; memory is held at the end of rounds begin+1 .. end
    held : (k,) int64, tokens prefilled at the begin; held + j are in memory at the
        end of round begin + j
    """

    request: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    held: np.ndarray


@dataclass(frozen=True, eq=False)
class Run:
    """One policy on one workload, in rounds.

    Attributes
    ----------
    workload : the requests that ran (those with s + o > M are not among them)
    memory : M, tokens
    start : (n,) int64, the decision that first admitted each request
    finish : (n,) int64, the round whose end completed it
    interrupted : every stay in memory, where requests gave up KV cache; else None
    order : (n,) int64, the fixed order of request indices the policy walked, if it has one
    skip : how many waiting requests its walk may pass over
    set_aside : (m,) int64, trace rows that cannot run in M
    policy, params : what produced this run
    """

    workload: Workload
    memory: int
    start: np.ndarray
    finish: np.ndarray
    interrupted: Stays | None = None
    order: np.ndarray | None = None
    skip: int = 0
    set_aside: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    policy: str = ""
    params: dict = field(default_factory=dict)

    @classmethod
    def of_stays(cls, workload: Workload, memory: int, stays: Stays) -> Run:
        """A run told by its stays, each request's in order of time."""
        n = len(workload)
        start = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(start, stays.request, stays.begin)
        finish = np.zeros(n, np.int64)
        np.maximum.at(finish, stays.request, stays.end)
        gave_up = len(stays.request) > n
        return cls(workload, memory, start, finish, stays if gave_up else None)

    @cached_property
    def stays(self) -> Stays:
        """Every period in memory; without preemption, one from start to finish each."""
        if self.interrupted is not None:
            return self.interrupted
        by_start = np.argsort(self.start, kind="stable")
        return Stays(
            by_start, self.start[by_start], self.finish[by_start], self.workload.prompt[by_start]
        )

    @property
    def first_token(self) -> np.ndarray:
        """(n,) int64: the round whose end delivered the first token; preemption never resets it."""
        return self.start + 1

    @cached_property
    def preemptions(self) -> np.ndarray:
        """(n,) int64: how often each request gave up its KV cache."""
        if self.interrupted is None:
            return np.zeros(len(self.workload), np.int64)
        return np.bincount(self.interrupted.request, minlength=len(self.workload)) - 1

    @property
    def gave_up_kv(self) -> bool:
        """Whether any request lost its KV cache: decides which bounds cover this run."""
        return self.interrupted is not None

    @cached_property
    def latency(self) -> np.ndarray:
        """(n,) float64: completion minus true arrival."""
        return self.finish - self.workload.arrival
