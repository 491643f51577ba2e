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
"""

from __future__ import annotations

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
    """Total completion time of the preemptive schedule, jobs in order of length.

    A job that a shorter one interrupts has more left than that one, and whoever is served
    until it goes on has less: those interrupted form a stack, the least on top.
    """
    n = length.size
    waiting = empty_waiting(n)
    interrupted = np.empty(n)  # what is left of each
    depth = completed = arrived = 0
    moment = total = 0.0
    while completed < n:
        if depth == 0 and next_waiting(waiting, 0) < 0:
            moment = max(moment, release[by_release[arrived]])
        while arrived < n and release[by_release[arrived]] <= moment:
            add_waiting(waiting, by_release[arrived])
            arrived += 1
        job = next_waiting(waiting, 0)
        if depth > 0 and (job < 0 or interrupted[depth - 1] <= length[job]):
            depth -= 1
            left = interrupted[depth]
        else:
            left = length[job]
            remove_waiting(waiting, job)
        if arrived == n or moment + left <= release[by_release[arrived]]:
            moment += left
            total += moment
            completed += 1
        else:
            comes = release[by_release[arrived]]
            interrupted[depth] = left - (comes - moment)
            depth += 1
            moment = comes
    return total


def least_total_latency(arrival: np.ndarray, length: np.ndarray) -> float:
    """Seconds: no preemptive schedule of one machine has less, rounding allowed for."""
    n = len(length)
    order = np.argsort(length, kind="stable")
    release = arrival[order] - arrival.min()
    by_release = np.argsort(release, kind="stable")
    total = _shortest_remaining(release, length[order], by_release)
    # Time is a sum of at most 2n numbers, and the total one of n times; a job's length
    # and release are off by a few roundings before.
    off = n * (4 * n + 40) * ROUNDING * (release.max() + length.sum())
    return float(total - release.sum() - off)


def _tried(step, every_run: bool) -> list[Envelope]:
    """Lines from flat to steepest, and the envelopes between line and superadditive."""
    largest = steepest(step)
    lines = [Envelope(share * largest.theta, 0.0) for share in SHARES]
    return lines if every_run else lines + [steepest(step, share * step.n0) for share in KNEES]


def _row(name: str, workload, memory: int, step, replicas: int, every_run: bool) -> Bound:
    """The largest of all that were tried."""
    alone = float(time_alone(workload, step, every_run).total.sum()) * (1 - 1e-12)
    tried = [(alone, "every request alone on its machine: at this load work says no more")]
    for envelope in _tried(step, every_run):
        length = work(workload, memory, step, envelope, every_run).total / replicas
        how = (
            "shortest remaining work first on one machine, rounding allowed for; "
            f"work by the envelope theta = {envelope.theta:.3g}, knee {envelope.knee:.3g}"
        )
        tried.append((least_total_latency(workload.arrival, length), how))
    value, how = max(tried, key=lambda pair: pair[0])
    return Bound(name, value, True, every_run, how, covers_cut_prompts=every_run)


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
