"""What is wrong at a rate that is not carried: the limits that are missed, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

from engine.capacity.objective import Miss, Objective, keeps_up
from engine.memory_curve import peak_memory
from engine.simulate.run import Run


@dataclass(frozen=True)
class Shortfall:
    """One run that does not do.

    Attributes
    ----------
    rate : requests in a clock unit
    overloaded : whether the server does not keep up
    served : share of the requests that were served
    misses : the limits that are missed, the worst first
    memory : the most that was held, as a share of M
    """

    rate: float
    overloaded: bool
    served: float
    misses: tuple[Miss, ...]
    memory: float


def shortfall(run: Run, rate: float, objective: Objective) -> Shortfall:
    """What is wrong with a run at a rate."""
    return Shortfall(
        rate,
        not keeps_up(run),
        len(run.workload) / run.offered,
        objective.misses(run),
        peak_memory(run) / run.memory,
    )
