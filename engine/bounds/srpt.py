"""One machine that serves work preemptively: the classic bound, in seconds.

By envelope (engine.proof.work.envelope) each token of a request has a work w_ij, and the works
of the tokens that a round yields add up to no more than its length. Spread each over its
round at a constant rate: all of a request's work w_i is done by one machine, no two
seconds of it at once, between its arrival, as no round that serves it begins earlier, and
its completion. So no total latency is below that of the best preemptive schedule of jobs
with lengths w_i and releases a_i, which always serves the job with the shortest remaining
time (Schrage, Operations Research 16, 1968). G replicas are no better than one machine G
times as fast, on which jobs last w_i / G.

It is as good as its envelope, so several are tried. At light load the time alone of every
request (engine.proof.work.alone) is more.

Parts. Take the requests in groups, however they are chosen. In any run the work of one group is
done by that machine, too, after its own arrivals and before its own completions, so their total
latency is at least the bound of the group alone, by whichever envelope or time alone says most.
The sum over groups bounds the run: nothing has to be known of when it rests. The groups are cut
where the machine rests under every envelope, since there the schedule of all falls apart into those
of the groups and no envelope says less: a rush hour is bounded by work, a night by the time alone.
"""

from __future__ import annotations

import math

import numpy as np

from engine.bound import Bound
from engine.bound_method import BoundWords, bound_method
from engine.compiled import kernel
from engine.proof.work.alone import time_alone
from engine.proof.work.envelope import Envelope, steepest, work
from engine.simulate.waiting import add_waiting, empty_waiting, next_waiting, remove_waiting

SHARES = np.linspace(0.0, 1.0, 6)  # of the largest theta
KNEES = np.linspace(0.0, 1.0, 5)  # of N0
ROUNDING = 2.0**-53


@kernel
def _shortest_remaining(release, length, by_release):
    """(n,) when each job is complete in the preemptive schedule, jobs in order of length.

    A job that a shorter one interrupts has more left than that one, and whoever is served
    until it goes on has less: those interrupted form a stack, the least on top.
    """
    n = length.size
    waiting = empty_waiting(n)
    completion = np.empty(n)
    interrupted = np.empty(n, np.int64)
    left = length.copy()
    depth = completed = arrived = 0
    moment = 0.0
    while completed < n:
        if depth == 0 and next_waiting(waiting, 0) < 0:
            moment = max(moment, release[by_release[arrived]])
        while arrived < n and release[by_release[arrived]] <= moment:
            add_waiting(waiting, by_release[arrived])
            arrived += 1
        job = next_waiting(waiting, 0)
        if depth > 0 and (job < 0 or left[interrupted[depth - 1]] <= length[job]):
            depth -= 1
            job = interrupted[depth]
        else:
            remove_waiting(waiting, job)
        if arrived == n or moment + left[job] <= release[by_release[arrived]]:
            moment += left[job]
            completion[job] = moment
            completed += 1
        else:
            comes = release[by_release[arrived]]
            left[job] -= comes - moment
            interrupted[depth] = job
            depth += 1
            moment = comes
    return completion


def least_total_latency(arrival: np.ndarray, length: np.ndarray) -> float:
    """Seconds: no preemptive schedule of one machine has less, rounding allowed for."""
    return float(_least_by_part(arrival, length, np.zeros(len(length), np.int64))[0])


def _least_by_part(arrival: np.ndarray, length: np.ndarray, part: np.ndarray) -> np.ndarray:
    """(parts,) seconds: the same for each part, between which the machine rests."""
    n = len(length)
    order = np.argsort(length, kind="stable")
    release, part = arrival[order] - arrival.min(), part[order]
    completion = _shortest_remaining(release, length[order], np.argsort(release, kind="stable"))
    at = np.argsort(completion, kind="stable")
    total = np.bincount(part[at], completion[at]) - np.bincount(part, release)
    # Time is a sum of at most 2n numbers, and the total one of as many times as there are jobs;
    # a job's length and release are off by a few roundings before.
    off = (4 * n + 40) * ROUNDING * (release.max() + length.sum())
    return total - np.bincount(part) * off


def _parts(arrival: np.ndarray, lengths: list[np.ndarray]) -> np.ndarray:
    """(n,) int64: 0, 1, .. in order of time; whatever the lengths, the machine rests between."""
    order = np.argsort(arrival, kind="stable")
    release = arrival[order] - arrival.min()
    served = np.cumsum(np.maximum.reduce(lengths)[order])
    done = served + np.maximum.accumulate(release - np.append(0.0, served[:-1]))
    rests = release[1:] - done[:-1] > 1e-9 * done[-1]
    part = np.empty(len(arrival), np.int64)
    part[order] = np.append(0, np.cumsum(rests))
    return part


def _tried(step, every_run: bool) -> list[Envelope]:
    """Lines from flat to steepest, and the envelopes between line and superadditive."""
    largest = steepest(step)
    lines = [Envelope(share * largest.theta, 0.0) for share in SHARES]
    return lines if every_run else lines + [steepest(step, share * step.n0) for share in KNEES]


def _row(name: str, workload, memory: int, step, replicas: int, every_run: bool) -> Bound:
    """In each part the largest of all that were tried."""
    envelopes = _tried(step, every_run)
    lengths = [work(workload, memory, step, e, every_run).total / replicas for e in envelopes]
    part = _parts(workload.arrival, lengths)
    requests = np.bincount(part)
    # The times of a part are added up one after another, which rounds once a request.
    rounding = 1e-12 + 2 * ROUNDING * requests
    alone = np.bincount(part, time_alone(workload, step, every_run).total) * (1 - rounding)
    tried = [alone, *(_least_by_part(workload.arrival, length, part) for length in lengths)]
    best = np.argmax(tried, axis=0)
    value = math.fsum(np.max(tried, axis=0)) * (1 - 2 * ROUNDING)
    return Bound(
        name,
        value,
        True,
        every_run,
        _how(envelopes, best, requests),
        covers_cut_prompts=every_run,
    )


def _how(envelopes: list[Envelope], best: np.ndarray, requests: np.ndarray) -> str:
    """What says most in each part, in words."""
    if not best.any():
        return "every request alone on its machine: at this load work says no more"
    largest = np.where(best > 0, requests, 0).argmax()
    envelope = envelopes[best[largest] - 1]
    how = (
        "shortest remaining work first on one machine, rounding allowed for; "
        f"work by the envelope theta = {envelope.theta:.3g}, knee {envelope.knee:.3g}"
    )
    if len(best) > 1:
        how = f"sum over {len(best)} busy periods with rests between; the largest by work: {how}"
    return how


@bound_method(
    key="srpt",
    title="Shortest remaining work",
    source="preemptive single-machine relaxation, solved by SRPT (Schrage 1968)",
    units=("seconds",),
    cost=lambda workload, memory: 2e-3 + 6e-6 * len(workload),
    words=BoundWords(
        what="Counts the seconds of work that each request costs the GPU at least, and serves "
        "that work on one machine that may change its mind at any time: shortest remaining first "
        "is then the best there is.",
        why="The work is a sum of floors under the length of every round; that it never exceeds "
        "the real time is proved in the code (engine/proof/work), with all rounding allowed for.",
    ),
)
def srpt(workload, memory, clock, replicas):
    step = clock.step
    return [
        _row("srpt", workload, memory, step, replicas, every_run=False),
        _row("srpt-preemptive", workload, memory, step, replicas, every_run=True),
    ]
