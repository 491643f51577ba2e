"""The times that a user feels, one value a request. A time is one row of REQUEST_TIMES."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.measure.token_gaps import largest_token_gap
from engine.simulate.run import Run


def latency(run: Run) -> np.ndarray:
    """(n,) float64: completion minus arrival, in clock units."""
    return run.latency


def ttft(run: Run) -> np.ndarray:
    """(n,) float64: end of the round of the first token minus arrival, in clock units."""
    return run.first_token_at - run.workload.arrival


def tpot(run: Run) -> np.ndarray:
    """(n,) float64: time per output token after the first; NaN where o = 1."""
    tokens = run.workload.output - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(tokens > 0, (run.finished_at - run.first_token_at) / tokens, np.nan)


def queueing(run: Run) -> np.ndarray:
    """(n,) float64: first start minus arrival, in clock units."""
    return run.started_at - run.workload.arrival


@dataclass(frozen=True)
class RequestTime:
    """A time that every request has.

    Attributes
    ----------
    name : short, as limits on it are called
    title : what pages call it
    of : (run) -> (n,) float64, clock units; NaN where a request has none
    is_limited : whether users may set a limit on it
    """

    name: str
    title: str
    of: Callable[[Run], np.ndarray]
    is_limited: bool = False


REQUEST_TIMES = (
    RequestTime("latency", "end-to-end latency", latency, is_limited=True),
    RequestTime("ttft", "time to first token", ttft, is_limited=True),
    RequestTime("queueing", "queueing", queueing),
    RequestTime("tpot", "time per output token", tpot, is_limited=True),
    RequestTime("token_gap", "largest token gap", largest_token_gap),
)


def request_time(title: str) -> RequestTime:
    """The time that pages call so; KeyError where there is none."""
    return {time.title: time for time in REQUEST_TIMES}[title]
