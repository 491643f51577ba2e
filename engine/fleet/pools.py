"""Pools of replicas that prefill and decode apart.

A request is served by the first pool for one token; then its KV cache moves, and it goes
on in the second pool as a request that arrives with its cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from engine.admission_limits import NO_LIMITS
from engine.choice import Choice
from engine.errors import InputError
from engine.fields import number_in
from engine.fleet.replicas import MOST_REPLICAS, check_replicas, schedule_replicas
from engine.fleet.topology import Topology
from engine.machine.clock import Clock
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.simulate.schedule import Preemptions, Schedule
from engine.workload import Workload


@dataclass(frozen=True, eq=False)
class PoolSchedule(Schedule):
    """Requests prefilled in one pool of replicas and decoded in another.

    Attributes
    ----------
    prefill : the schedule in which each request yields its first token
    decode : that of those with more tokens, from when their KV cache has been moved
    decoded : (m,) int64, which requests these are
    """

    prefill: Schedule = field(kw_only=True)
    decode: Schedule | None = None
    decoded: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return self.prefill.parts + (() if self.decode is None else self.decode.parts)

    @property
    def replicas(self) -> int:
        return self.prefill.replicas + (0 if self.decode is None else self.decode.replicas)

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


def _moved(workload: Workload, arrival: np.ndarray) -> Workload:
    """The requests as they come to the pool that decodes, with one token done."""
    there = replace(workload, **workload.predictions_after(1))  # type: ignore[arg-type]
    return replace(
        there,
        arrival=arrival,
        prompt=workload.prompt + 1,
        output=workload.output - 1,
        with_cache=True,
        admission_limits=NO_LIMITS,
    )


def run_pools(
    choice: Choice,
    workload: Workload,
    memory: int,
    clock: Clock,
    topology: Topology,
    progress: Progress = silent,
) -> Run:
    """Prefill on some replicas, decode on others, the same policy on all.

    A request is served by the first pool for one token, its KV cache of s + 1 tokens moves in the
    topology's `transfer` clock units a token, and it goes on in the second pool as one that
    arrives with its cache. Moving takes no time of either replica. Who has been prefilled is
    neither turned away nor gives up.
    """
    number_in("transfer (time a token)", topology.transfer, 0, 1e6)
    if workload.concurrency:
        raise InputError("a closed loop runs on one replica: leave out the pools")
    for pool in _pools(topology):
        check_replicas(workload, pool)

    def serve(fitting: Workload, progress: Progress) -> Schedule:
        def report(share: float, sentence: str = "") -> None:
            progress(share, str(sentence))  # what one pool's search finds is no schedule of both

        return _schedule_pools(choice, fitting, memory, clock, topology, report)

    return choice.policy.run_fitting(workload, memory, clock, choice.values, serve, progress)


def _pools(topology: Topology) -> list[Topology]:
    """The replicas that prefill and those that decode, each behind a router."""
    return [topology.alike(replicas) for replicas in topology.pools or ()]


def _schedule_pools(
    choice: Choice,
    fitting: Workload,
    memory: int,
    clock: Clock,
    topology: Topology,
    progress: Progress,
) -> PoolSchedule:
    """Schedule requests that all fit; those who left unserved are taken out."""
    prefillers, decoders = _pools(topology)
    first_tokens = fitting.believing(np.ones(len(fitting), np.int64), memory)  # for certain
    prefill = schedule_replicas(choice, first_tokens, memory, clock, prefillers, progress).served()
    fitting = fitting.take(np.isin(fitting.row, prefill.workload.row))
    decoded = np.flatnonzero(fitting.output > 1)
    decode, finish = None, prefill.finish.copy()
    lost, recomputed = prefill.preemptions.copy(), prefill.recomputed.copy()
    if len(decoded):
        there = fitting.take(decoded)
        moving = float(topology.transfer) * (there.prompt + 1)
        moved = _moved(there, prefill.finished_at[decoded] + moving)
        decode = schedule_replicas(choice, moved, memory, clock, decoders, progress)
        lost[decoded] += decode.preemptions
        recomputed[decoded] += decode.recomputed
        finish[decoded] = decode.finish
    return PoolSchedule(
        fitting,
        memory,
        prefill.start,
        finish,
        first=prefill.finish,
        preempted=Preemptions(lost, recomputed),
        unserved=prefill.unserved,
        prefill=prefill,
        decode=decode,
        decoded=decoded,
    )


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
