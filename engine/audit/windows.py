"""Windows of a trace: consecutive requests, about so many each, and a fair choice of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.fields import number_in
from engine.workload import Workload, set_aside

REQUESTS = 500  # a window: enough for tight bounds, few enough to tell the time of day
MOST_REQUESTS = 10**6


@dataclass(frozen=True, eq=False)
class Window:
    """The requests that arrive in one stretch of a trace.

    Attributes
    ----------
    number : its place among the trace's windows, from 0
    begin, end : clock units; its first arrival, and that of the next window or its own last
    workload : its requests
    measured : (n,) float64, clock units; the latency that the trace's own server gave each,
        NaN where it does not say. None: nowhere
    """

    number: int
    begin: float
    end: float
    workload: Workload
    measured: np.ndarray | None = None


def cut(
    workload: Workload,
    memory: int,
    requests: int = REQUESTS,
    measured: np.ndarray | None = None,
) -> list[Window]:
    """The requests of a trace that fit in M, in windows of about equally many, in order of time.

    A burst at one moment is never cut: a border goes before it. A backlog is one window.

    Parameters
    ----------
    requests : a window, about
    measured : (n,) float64, clock units, as in `Window`

    Raises
    ------
    InputError
        Where who is served depends on the policy, for a bad number, or where no request fits.
    """
    requests = number_in("requests a window", requests, 1, MOST_REQUESTS, whole=True)
    if workload.depends_on_run:
        raise InputError(
            "a closed loop, patience and a queue limit cannot be audited: who is served depends "
            "on the policy"
        )
    fitting, aside = set_aside(workload, memory)
    if measured is not None:
        measured = measured[~np.isin(workload.row, aside)]
    workload = fitting
    order = np.lexsort((workload.row, workload.arrival))
    arrival = workload.arrival[order]
    parts = max(1, round(len(order) / requests))
    even = arrival[np.arange(parts) * len(order) // parts]
    borders = np.unique(np.searchsorted(arrival, even))
    ends = np.append(arrival[borders[1:]], arrival[-1])
    return [
        Window(
            number,
            float(workload.arrival[of[0]]),
            float(ends[number]),
            workload.take(of),
            None if measured is None else measured[of],
        )
        for number, of in enumerate(np.split(order, borders[1:]))
    ]


def pick(windows: Sequence[Window], most: int | None = None, seed: int = 0) -> list[Window]:
    """At most so many of the windows, in order of time: one at random from each equal part.

    Raises
    ------
    InputError
        For a bad number or seed.
    """
    if most is not None:
        most = number_in("windows", most, 1, MOST_REQUESTS, whole=True)
    if most is None or most >= len(windows):
        return list(windows)
    seed = number_in("seed", seed, 0, 2**63, whole=True)
    draws = np.random.Generator(np.random.PCG64(seed)).random(most)
    borders = np.arange(most + 1) * len(windows) // most
    chosen = borders[:-1] + (draws * np.diff(borders)).astype(int)
    return [windows[number] for number in chosen]
