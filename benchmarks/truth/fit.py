"""Round times that make a simulated run meet the measured times of some of its requests.

These runs tell when the first and the last token of a request came, and nothing of the tokens
between, so that single rounds cannot be seen (engine/calibrate): the coefficients are searched
for instead, each trial being a simulation of the whole run. What is looked at of it are the times
of those requests alone.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from benchmarks.truth.measured import Measured
from engine import Choice
from engine.machine.clock import Clock, seconds_clock
from engine.measure.times import latency, tpot, ttft

STARTS = (  # c0, c1, N0, c2, c3 in seconds and tokens, from which the search goes downhill
    (0.020, 1e-4, 100.0, 1e-7, 1e-5),
    (0.015, 5e-5, 300.0, 3e-8, 1e-4),
    (0.010, 2e-5, 10.0, 1e-7, 1e-4),
)
TRIALS = 500


def simulated(run: Measured, clock: Clock) -> dict[str, np.ndarray]:
    """(n,) each: the times of its requests, seconds."""
    made = run.deployment(clock).run(Choice.of("fcfs"), run.workload)
    return {"TTFT": ttft(made), "TPOT": tpot(made), "end-to-end": latency(made)}


def miss(run: Measured, clock: Clock, which: np.ndarray) -> float:
    """How far the times of some requests are off, each metric by its own mean."""
    guess = simulated(run, clock)
    total = 0.0
    for name, seen in run.times.items():
        off = guess[name][which] - seen[which]
        total += (np.nanmean(np.abs(off)) + abs(np.nanmean(off))) / np.nanmean(seen[which])
    return total


def fitted(run: Measured, which: np.ndarray) -> Clock:
    """The clock that meets these requests best.

    Parameters
    ----------
    which : (k,) int64, the requests whose times may be looked at
    """

    def missed(logs: np.ndarray) -> float:
        return miss(run, seconds_clock(*np.exp(logs)), which)

    options = {"maxfev": TRIALS, "xatol": 1e-4, "fatol": 1e-5}
    found = [
        minimize(missed, np.log(start), method="Nelder-Mead", options=options) for start in STARTS
    ]
    best = min(found, key=lambda result: result.fun)
    again = minimize(missed, best.x, method="Nelder-Mead", options=options)
    return seconds_clock(*np.exp(again.x))
