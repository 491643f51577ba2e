"""How much more a server could carry, and with how much less memory (DESIGN 4).

The question "does this policy keep up?" is put to the same requests arriving k times as
fast, and on less memory; bisection finds where the answer turns. A run says no when it is
overloaded by the verdict of engine/overload.py. Noise makes the border of a finite sample
uncertain: the answer is an interval between a setting that kept up and one that did not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from engine import wording
from engine.errors import InputError
from engine.overload import verdict
from engine.progress import Progress, silent
from engine.simulate.run import Run
from engine.workload import Workload

STEPS = 7
WIDEST = 2.0**6


@dataclass(frozen=True)
class Border:
    """Where a policy stops keeping up.

    Attributes
    ----------
    carries, fails : the last setting that kept up and the first that did not; 0 or infinite
        where none was found
    """

    carries: float
    fails: float


Simulate = Callable[[Workload, int], Run]


def largest_rate(
    simulate: Simulate, workload: Workload, memory: int, report: Progress = silent
) -> Border:
    """The rate of arrivals (in clock units) that the servers carry, of the same requests.

    Parameters
    ----------
    simulate : the run of a workload in a memory
    """
    span = float(np.ptp(workload.arrival))
    if span == 0:
        raise InputError("a backlog has no rate: choose arrivals over time")
    rate = (len(workload) - 1) / span

    def keeps_up(factor: float) -> bool:
        faster = replace(workload, arrival=workload.arrival / factor)
        return verdict(simulate(faster, memory)).kind != "overloaded"

    border = bisect_factor(keeps_up, report)
    return Border(rate * border.carries, rate * border.fails)


def smallest_memory(
    simulate: Simulate, workload: Workload, memory: int, report: Progress = silent
) -> Border:
    """The M (tokens) with which the servers carry these requests, none set aside."""
    fitting = workload.take(workload.peak <= memory)
    least = int(fitting.peak.max())

    def keeps_up(factor: float) -> bool:
        tokens = max(least, int(memory / factor))
        enough = tokens * factor <= memory * 1.001
        return enough and verdict(simulate(fitting, tokens)).kind != "overloaded"

    border = bisect_factor(keeps_up, report)
    carries = memory / border.carries if border.carries else np.inf
    return Border(carries, memory / border.fails)


def bisect_factor(keeps_up: Callable[[float], bool], report: Progress) -> Border:
    """The factor at which `keeps_up` turns from true to false, in the logarithm."""
    low, high, factor = 0.0, np.inf, 1.0
    asked = 0
    while not (low > 0 and np.isfinite(high)) and 1 / WIDEST <= factor <= WIDEST:
        low, high = (factor, high) if keeps_up(factor) else (low, factor)
        factor = low * 2 if low > 0 else high / 2
        asked += 1
        report(min(0.4, 0.08 * asked))
    for step in range(STEPS if low > 0 and np.isfinite(high) else 0):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if keeps_up(middle) else (low, middle)
        report(0.4 + 0.6 * (step + 1) / STEPS)
    return Border(low, high)


def in_words(label: str, rate: Border, memory: Border, unit: str) -> str:
    """The headroom in two sentences."""
    each = "round" if unit == "rounds" else "second"
    told = f"**{label}** carries up to {wording.number(rate.carries)} of these requests a {each}"
    told += f" (not {wording.number(rate.fails)})." if np.isfinite(rate.fails) else " or more."
    if not np.isfinite(memory.carries):
        return f"{told} At the present rate more memory alone would not be enough."
    tokens = wording.tokens(int(np.ceil(memory.carries)))
    return f"{told} At the present rate it needs about {tokens} of KV cache."
