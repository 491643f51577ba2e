"""The fluid limit of a GPU under a steady load: how long a round lasts in equilibrium.

In a round of T seconds the requests that arrive in T seconds have to be advanced, in the
mean, by all that they ask for. With N tokens, K tokens of context and B decoding requests
asked for a second, T solves

    T = c0 + c1 * max(0, N*T - N0) + (c2*K + c3*B) * T,

a straight line on either side of N*T = N0. With N0 = 0 it is c0 / (1 - load), which for
c1 = c2 = d1 is d0 / (1 - d1 S) of arXiv 2504.11320, section on the fluid model. In the
rounds clock (c0 = 1, all else 0) it is one round.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from engine.machine.clock import Clock, StepTime
from engine.workload import Workload


@dataclass(frozen=True)
class Load:
    """What requests ask of the GPU in a unit of time.

    Attributes
    ----------
    tokens : prompt tokens and decoded ones, N
    context : tokens of KV cache read, K
    decoding : tokens decoded, B
    held : token-rounds of memory
    """

    tokens: float
    context: float
    decoding: float
    held: float


def load_of(workload: Workload) -> Load:
    """The mean load from the first arrival to the last, which must differ."""
    decoded = workload.output - 1
    context = workload.prompt * decoded + decoded * (decoded + 1) // 2
    span = np.ptp(workload.arrival)
    return Load(
        tokens=float((workload.prompt + decoded).sum() / span),
        context=float(context.sum() / span),
        decoding=float(decoded.sum() / span),
        held=float(workload.volume.sum() / span),
    )


def fluid_round(step: StepTime, load: Load) -> float:
    """How long a round lasts in equilibrium; infinity if the GPU cannot carry the load."""
    read = step.c2 * load.context + step.c3 * load.decoding
    if read < 1 and load.tokens * step.c0 / (1 - read) <= step.n0:
        return step.c0 / (1 - read)
    busy = read + step.c1 * load.tokens
    return (step.c0 - step.c1 * step.n0) / (1 - busy) if busy < 1 else inf


def round_to_plan(workload: Workload, memory: int, clock: Clock) -> float:
    """The fluid's round; under a load that the GPU cannot carry, one that fills M.

    If the requests that arrive in T start together once a round, they hold T times the
    load's token-rounds of memory.
    """
    load = load_of(workload)
    in_equilibrium = fluid_round(clock.step, load)
    return in_equilibrium if in_equilibrium < inf else memory / load.held
