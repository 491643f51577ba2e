"""Whether a policy works off a queue at a rate: some carry a load from empty, but not from full.

BURST requests arrive at BUILT times the certified ceiling, and then all others at the rate. Where
the queue is worked off before the last of them, it drains. Else the need that is served from the
end of the burst on is held against the need that arrives by the law: the queue falls where the
difference is above 0 by its 95 % interval, and the oldest request of every class in the system at
the end has come after the oldest that was there when the burst was over. A longer run decides
where this one does not; what the longest does not decide is not carried.

The burst is large enough to leave a queue although a draw may need a tenth less than its law.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from engine.capacity.law import Ceiling
from engine.capacity.question import Question
from engine.capacity.saturation import BATCHES, lengths_of_runs, need_served, open_to_all
from engine.choice import Choice
from engine.errors import Livelock
from engine.measure.overload import need_waiting
from engine.simulate.run import Run
from engine.workload import Workload

BURST, BUILT = 1_500, 1.5  # requests a server, and the rate at which they come
CONFIDENCE = 0.95
SHORT = 0.1  # of the queue that the burst leaves at least: what is shorter has been worked off


def drains(choice: Choice, question: Question, top: Ceiling, rate: float, seed: int) -> bool | None:
    """Whether the queue of a burst falls at a rate; None where no run tells."""
    for n in lengths_of_runs(choice, question):
        burst = min(BURST * question.deployment.servers, n // 4)
        workload = after_burst(question.draws.at(rate, seed, n), burst, rate / (BUILT * top.rate))
        try:
            run = question.run(choice, open_to_all(workload))
        except Livelock:
            return False
        left = burst * top.mean_need * (1 - 1 / BUILT)
        falls = _falls(run, top, rate, (float(workload.arrival[burst]), left))
        if falls is not None:
            return falls
    return None


def after_burst(workload: Workload, burst: int, faster: float) -> Workload:
    """The same requests, the first ones arriving in this share of the time they had."""
    in_turn = workload.take(np.argsort(workload.arrival, kind="stable"))
    arrival = in_turn.arrival - in_turn.arrival[0]
    end = arrival[burst]
    squeezed = np.where(arrival < end, arrival * faster, arrival - end * (1 - faster))
    return replace(in_turn, arrival=squeezed)


def _falls(run: Run, top: Ceiling, rate: float, burst: tuple[float, float]) -> bool | None:
    """Whether the queue falls; None where this run does not tell.

    Parameters
    ----------
    burst : when it was over, and the need that it left at least
    """
    since, built = burst
    end = float(run.workload.arrival.max())
    edges = np.linspace(since, end, BATCHES + 1)
    left = need_waiting(run, top.need, edges)
    worked_off = np.flatnonzero(left <= SHORT * built)
    if len(worked_off):
        return True
    served = need_served(run, top, edges)
    gained = served - rate * top.mean_need
    half = stdtrit(BATCHES - 1, (1 + CONFIDENCE) / 2) * gained.std(ddof=1) / np.sqrt(BATCHES)
    if gained.mean() + half < 0 and left[-1] > left[0]:
        return False
    if gained.mean() - half <= 0:
        return None
    return True if _the_oldest_go(run, since, end) else None


def _the_oldest_go(run: Run, since: float, end: float) -> bool:
    """Whether in every class the oldest in the system at the end is another than at the begin."""
    workload = run.workload
    for number in range(len(workload.classes)):
        of = workload.class_of == number
        came, gone = workload.arrival[of], run.finished_at[of]
        then = came[(came <= since) & (gone > since)]
        waiting = came[(came <= end) & (gone > end)]
        if len(then) and len(waiting) and waiting.min() <= then.min():
            return False
    return True
