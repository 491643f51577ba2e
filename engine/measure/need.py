"""What requests need of a server at the least, by resource: ceilings for every policy.

A need is a time for which a request takes the whole of something that a server has only once:
its memory, the time of its GPU, its places for sequences, the tokens of its rounds. Needs that
come faster than time passes are carried by nobody, so the mean need of a request is one over a
certified ceiling of the rate. The resource with the largest need is the one to weigh requests
by: weighed so, a saturated server does the same work whatever it serves first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.choice import Choice
from engine.engines import IDEAL
from engine.machine.clock import Clock, StepTime
from engine.proof.packing import kept_apart, packed
from engine.proof.work.alone import time_alone
from engine.proof.work.envelope import steepest, work
from engine.workload import Workload

MEMORY, COMPUTE = "memory", "compute"
PACKING = "packing"
SEQUENCES, TOKENS, RESERVED = "sequences", "tokens a round", "reserved"
IN_WORDS = {  # resource: what a load is a share of
    MEMORY: "the memory",
    COMPUTE: "the GPU's time",
    PACKING: "the time, as large ones keep others out of the memory",
    SEQUENCES: "the places (max_num_seqs)",
    TOKENS: "the tokens that rounds may have",
    RESERVED: "the memory that is kept for outputs to come",
}
NEARLY = 1.001  # a need that is larger by less is not named in place of a plainer one


@dataclass(frozen=True, eq=False)
class Need:
    """What each request takes of one resource.

    Attributes
    ----------
    of : the resource, a key of IN_WORDS
    amounts : (n,) float64, clock units of a whole server
    way : how it was reckoned, where there are several ways
    is_any_policys : whether no policy gets round it. Others hold for runs in which nobody gives
        up KV cache, or follow from a policy's own limits
    """

    of: str
    amounts: np.ndarray
    way: str = ""
    is_any_policys: bool = True


def needs(
    workload: Workload,
    memory: int,
    clock: Clock,
    choice: Choice | None = None,
    keeps_cache: bool = False,
) -> list[Need]:
    """The needs of requests that all fit, the plainest first.

    Parameters
    ----------
    choice : the policy whose own limits, and those of its engine, count too
    keeps_cache : only for runs in which nobody gives up KV cache
    """
    engine = IDEAL if choice is None else choice.engine
    held, blocks = engine.in_memory(workload, clock), engine.whole_blocks(memory)
    known = list(_of_memory_and_time(held, blocks, clock))
    if keeps_cache:
        shortest = 1.0 if clock.is_rounds else clock.step.c0
        apart = kept_apart(held, blocks)
        known += [Need(PACKING, shortest * rounds, way, False) for way, rounds in apart]
    if choice is not None:
        limits = choice.values if engine.is_ideal else engine.options
        known += list(_of_limits(workload, clock, limits))
    if engine.reserves:
        kept = engine.share_kept(workload, memory)
        known.append(Need(RESERVED, kept * _alone(workload, clock), is_any_policys=False))
    return known


def largest(known: list[Need], weight: np.ndarray | None = None) -> Need:
    """The one that binds, in the mean over requests of these (n,) weights."""

    def total(need: Need) -> float:
        return float((need.amounts if weight is None else need.amounts * weight).sum())

    best = known[0]
    for need in known[1:]:
        if total(need) > NEARLY * total(best):
            best = need
    return best


def same(known: list[Need], need: Need) -> Need:
    """The need of these requests that was reckoned as another one's was; else what binds them."""
    alike = [other for other in known if (other.of, other.way) == (need.of, need.way)]
    return largest(alike or known)


def _of_memory_and_time(workload: Workload, memory: int, clock: Clock) -> Iterator[Need]:
    volume = workload.volume / memory
    if clock.is_rounds:
        yield Need(MEMORY, volume)
        for way, rounds in packed(workload, memory):
            yield Need(PACKING, rounds, way)
        return
    step = clock.step
    envelope = steepest(step)
    compute = work(workload, memory, step, envelope, every_run=True).total
    yield Need(COMPUTE, compute)
    yield Need(MEMORY, step.c0 * volume)
    shared = max(0.0, step.c0 - envelope.theta * step.c1 * step.n0)  # g0, by memory held
    for way, rounds in packed(workload, memory):
        yield Need(PACKING, compute + shared * (rounds - volume), f"time and {way}")
        yield Need(PACKING, step.c0 * rounds, way)


def _of_limits(workload: Workload, clock: Clock, limits: Mapping[str, Any]) -> Iterator[Need]:
    """Of a policy that runs so many sequences at once, and so many tokens in a round."""
    if places := limits.get("max_num_seqs"):
        yield Need(SEQUENCES, _alone(workload, clock) / places, is_any_policys=False)
    if budget := limits.get("chunk_size") or limits.get("max_num_batched_tokens"):
        is_cut = "chunk_size" in limits or limits.get("chunked_prefill")
        # Who has a round of its own, because nothing cuts its prompt, is not charged.
        counts = (workload.peak <= budget) | bool(is_cut)
        taken = np.where(counts, workload.prompt + workload.output - 1, 0)
        amounts = taken / _tokens_a_unit(budget, clock.step)
        yield Need(TOKENS, amounts, is_any_policys=False)


def _alone(workload: Workload, clock: Clock) -> np.ndarray:
    """(n,) float64: how long each request is in memory at the least."""
    if clock.is_rounds:
        return workload.output.astype(float)
    return time_alone(workload, clock.step, every_run=True).total


def _tokens_a_unit(budget: float, step: StepTime) -> float:
    """The most tokens that rounds of at most `budget` of them make in a clock unit.

    Tokens over time rise until n0, and from there rise or fall all along: one end has the most.
    """
    tried = [budget] + ([step.n0] if 1 <= step.n0 < budget else [])
    return max(tokens / step(tokens, 0.0, 0.0) for tokens in tried)
