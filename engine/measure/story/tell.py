"""A request's life as claims: facts of the run, and what its policy's rule saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.decisions.account import Account, Reason, why
from engine.decisions.decision import Decision
from engine.decisions.plans import along_walk
from engine.decisions.refusal import OverPlan, PlannedFor
from engine.policy import find_policy
from engine.simulate.run import Run

MOST_LOSSES = 4  # of which the reasons are told


@dataclass(frozen=True)
class LostCache:
    """A time when it gave up its KV cache.

    Attributes
    ----------
    lost, back : decisions
    refilled : tokens that it came back with
    generated : tokens that it had generated when it lost it
    kept : whether it still had them when it came back
    swapped : whether its KV cache was moved out and back
    refused : what kept it out at the last decision before it came back; None: it came back in
        the decision that put it out, or the reason is not told
    """

    lost: int
    back: int
    refilled: int
    generated: int
    kept: bool
    swapped: bool
    refused: Reason | None


@dataclass(frozen=True)
class Story:
    """A request from arrival to finish.

    Attributes
    ----------
    row, prompt, output : which request
    arrival : clock units
    seen : the first decision that knew it
    at_sight : why it did not start then; None if it did, or the reason is not told
    at_last : why it did not start at the last decision before it did, where that is a later one;
        None also where a plan made beforehand said all at sight
    overtakers : trace rows of the requests that came later and started before it; by start
    by_rank : whether all of these are before it in the policy's fixed order
    start, finish : rounds
    waited, latency : clock units
    prefilled : the round whose end completed its prompt, where it was prefilled in chunks
    pauses : (begin, end), rounds, in which it kept its KV cache and generated nothing
    losses : the first of the times when it gave up its KV cache
    more_losses : how many there are beside
    freed : the round at whose end its memory was free, where that is later than `finish`
    """

    row: int
    prompt: int
    output: int
    arrival: float
    seen: int
    at_sight: Reason | None
    at_last: Reason | None
    overtakers: tuple[int, ...]
    by_rank: bool
    start: int
    finish: int
    waited: float
    latency: float
    prefilled: int | None
    pauses: tuple[tuple[int, int], ...]
    losses: tuple[LostCache, ...]
    more_losses: int
    freed: int | None


def decision_of(run: Run, at: int) -> Decision:
    """The decision of a single server's run after round `at`."""
    return Decision(run.schedule.whole, {**run.params, **run.schedule.settled}, run.clock, at)


def account_of(run: Run, decision: Decision) -> Account | None:
    """What the rule saw at a decision; None where the policy does not say."""
    if run.policy:
        declared = find_policy(run.policy).inside(run.engine).account
        return declared and declared(decision)
    return None if decision.schedule.walk is None else along_walk(decision)


def _why_not(run: Run, i: int, at: int) -> Reason | None:
    """Why request `i` of the offered schedule, which waited then, was not admitted."""
    decision = decision_of(run, at)
    account = account_of(run, decision)
    return None if account is None else why(decision, account, i)


def waiting_at(run: Run, at: int) -> np.ndarray:
    """(k,) int64: who waits after a decision, in the order in which the policy considers them."""
    decision = decision_of(run, at)
    account = account_of(run, decision)
    by_arrival = decision.ascending(decision.waiting, decision.turn)
    considered = by_arrival[:0] if account is None else account.queue
    considered = considered[np.isin(considered, decision.waiting)]
    who = np.append(considered, by_arrival[~np.isin(by_arrival, considered)])
    served = decision.schedule.is_served
    return (np.cumsum(served) - 1)[who[served[who]]]


def obstacle(run: Run, i: int, at: int) -> OverPlan | None:
    """What would keep request `i` of a run in a fixed order out at a decision under look-ahead.

    Those who are before it in the order and are admitted then are in memory. None: it fits.
    """
    decision = decision_of(run, at)
    account = along_walk(decision)
    i = int(np.flatnonzero(decision.schedule.is_served)[i])
    before = account.queue[: int(np.flatnonzero(account.queue == i)[0])]
    joined = before[np.isin(before, decision.joined)]
    refusal = account.refuse(i, np.append(decision.stays, joined))
    assert refusal is None or isinstance(refusal, OverPlan)
    return refusal


def tell(run: Run, i: int) -> Story:
    """The story of request `i` (an index into the workload of a single server's run)."""
    workload, start, seen = run.workload, int(run.start[i]), int(run.seen[i])
    offered = int(np.flatnonzero(run.schedule.whole.is_served)[i])
    later = (workload.arrival > workload.arrival[i]) & (run.start < start)
    overtakers = np.flatnonzero(later)
    overtakers = overtakers[np.argsort(run.start[overtakers], kind="stable")]
    residencies = run.residencies
    places = np.flatnonzero(residencies.request == i)
    goes_on = np.isin(places, run.schedule.joints[0])
    stays = list(zip(places.tolist(), goes_on.tolist(), strict=True))
    last = int(residencies.end[places].max())
    lost = [k for k, (_, on) in enumerate(stays[:-1]) if not on]
    losses = [(places[k], places[k + 1]) for k in lost]
    at_sight = _why_not(run, offered, seen) if start > seen else None
    by_plan = at_sight is not None and isinstance(at_sight.refusal, PlannedFor)
    return Story(
        row=int(workload.row[i]),
        prompt=int(workload.prompt[i]),
        output=int(workload.output[i]),
        arrival=float(workload.arrival[i]),
        seen=seen,
        at_sight=at_sight,
        at_last=_why_not(run, offered, start - 1) if start - 1 > seen and not by_plan else None,
        overtakers=tuple(workload.row[overtakers].tolist()),
        by_rank=_are_before(run, overtakers, i),
        start=start,
        finish=int(run.finish[i]),
        waited=float(run.started_at[i] - workload.arrival[i]),
        latency=float(run.latency[i]),
        prefilled=_prefilled(run, i),
        pauses=_pauses(run, places, i),
        losses=tuple(_loss(run, i, offered, *both) for both in losses[:MOST_LOSSES]),
        more_losses=max(0, len(losses) - MOST_LOSSES),
        freed=last if last > run.finish[i] else None,
    )


def _are_before(run: Run, others: np.ndarray, i: int) -> bool:
    """Whether all of these are before it in the order of the walk, if there is one."""
    if run.order is None:
        return False
    rank = np.empty(len(run.order), np.int64)
    rank[run.order] = np.arange(len(rank))
    return bool((rank[others] < rank[i]).all())


def _prefilled(run: Run, i: int) -> int | None:
    """The round that yielded the first token, where the prompt took several without a loss."""
    first, start = int(run.first_token[i]), int(run.start[i])
    log = run.residencies
    begun = np.flatnonzero((log.request == i) & (log.begin == start))
    in_one_go = len(begun) and np.isin(begun[0], run.schedule.joints[0])
    return first if in_one_go and first > start + 1 else None


def _pauses(run: Run, places: np.ndarray, i: int) -> tuple[tuple[int, int], ...]:
    """When it stood still in memory between two tokens."""
    log = run.residencies
    before, after = run.schedule.joints
    stops = after[(log.grows[before] == 1) & (log.grows[after] == 0)]
    still = places[np.isin(places, stops)]
    still = still[log.end[still] <= run.finish[i]]
    return tuple(zip(log.begin[still].tolist(), log.end[still].tolist(), strict=True))


def _loss(run: Run, i: int, offered: int, before: int, after: int) -> LostCache:
    """What ended one stay in memory, and when the next began."""
    log, prompt = run.residencies, int(run.workload.prompt[i])
    lost, back = int(log.end[before]), int(log.begin[after])
    held = int(log.held[before] + log.grows[before] * (lost - log.begin[before]))
    generated = max(0, held - prompt)
    refilled = int(log.held[after])
    if not run.engine.is_ideal:  # cut prompts hold less than all that is prefilled again
        yields = (log.request == i) & (log.grows == 1) & (log.end <= lost)
        generated = int((log.end[yields] - log.begin[yields]).sum())
        refilled = prompt + generated
    return LostCache(
        lost=lost,
        back=back,
        refilled=refilled,
        generated=generated,
        kept=refilled == prompt + generated,
        swapped=bool(run.policy) and find_policy(run.policy).swaps(run.params),
        refused=_why_not(run, offered, back - 1) if back > lost else None,
    )
