"""What every token costs the machine at least, as the checker of bounds in seconds works it out.

It shares no code with engine/proof/work, which has closed forms for the same: here each token
is written down by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.machine.clock import StepTime
from engine.workload import Workload

LESS = 1 - 2.0**-44  # more than rounding can add to a token's work, or to a time alone


class CheckedEnvelope(Protocol):
    """A floor under the length of a round (engine.proof.work.envelope)."""

    theta: float
    knee: float


@dataclass(frozen=True, eq=False)
class CheckedTokens:
    """One request, token by token.

    Attributes
    ----------
    arrival : seconds after the part's first arrival
    alone : no completion is sooner after the arrival, seconds
    gap : no token after the first takes less, seconds; infinite where there is none
    work : (envelopes, o), what each token costs the machine at least, seconds
    """

    arrival: float
    alone: float
    gap: float
    work: np.ndarray


def tokens_of(
    workload: Workload,
    memory: int,
    step: StepTime,
    envelopes: Sequence[CheckedEnvelope],
    every_run: bool,
) -> Iterator[CheckedTokens]:
    """Those of each request; `every_run`: also where KV cache is given up or prompts are cut."""
    arrivals = (workload.arrival - workload.arrival.min()).tolist()
    for a, s, o in zip(arrivals, workload.prompt.tolist(), workload.output.tolist(), strict=True):
        held = s + np.arange(1.0, o)  # before the tokens 2 .. o
        gaps = step(0.0, 1.0, held)
        first = step(float(s), 0.0, 0.0)
        if every_run:
            gaps = np.minimum(gaps, _prefill_cut(held, step))
            first = float(_prefill_cut(np.array([float(s)]), step)[0])
        works = [_works(envelope, s, held, memory, step, every_run) for envelope in envelopes]
        yield CheckedTokens(
            a,
            (first + gaps.sum()) * LESS,
            gaps.min(initial=np.inf) * LESS,
            np.array(works).reshape(len(works), o) * LESS,
        )


def _prefill_cut(tokens: np.ndarray, step: StepTime) -> np.ndarray:
    """Least seconds to prefill so many tokens in m chunks: convex in m, least next to p / N0."""
    even = np.floor(tokens / step.n0) if step.n0 else tokens
    times = [
        m * step.c0 + step.c1 * np.maximum(0.0, tokens - m * step.n0)
        for m in (np.clip(even + more, 1, tokens) for more in (-np.inf, 0, 1))
    ]
    return np.minimum.reduce(times)


def _works(envelope: CheckedEnvelope, s: int, held: np.ndarray, memory: int, step, every_run: bool):
    """(o,) what the tokens cost under an envelope."""
    g1 = envelope.theta * step.c1
    g0 = max(0.0, step.c0 - g1 * (step.n0 - envelope.knee))
    later = step.c2 * held + step.c3 + g1 * max(0.0, 1.0 - envelope.knee)
    if every_run:
        later = np.minimum(later, g1 * held)
    first = g1 * max(0.0, s - envelope.knee)
    share = g0 / memory * (np.append(s, held) + 1)
    return np.append(first, later) + share
