"""How long a request takes on a machine of its own: less is impossible in any company.

T never falls when a round holds more, so the round that yields token j >= 2 lasts at least
T(0, s + j - 1, 1), and the one with the first token T(s, 0, 0). That is the time alone of
runs that keep their KV cache and cut no prompt.

*Every run.* A prompt of p tokens cut into m chunks takes at least
m*c0 + c1*max(0, p - m*N0), as max(0, .) is superadditive; as a function of m this falls by
c1*N0 - c0 a chunk up to m = p/N0 and rises by c0 from there, so that m = 1 and the two
whole numbers about p/N0 are enough to try. A token j >= 2 is decoded or comes out of
s + j - 1 tokens prefilled again, whichever is less.

Either way a step takes no less with more tokens held: T(0, x, 1) rises with x, and cutting
x + 1 tokens into x + 1 chunks costs more than x into x. Hence every step takes at least
`shortest`, the step with the fewest tokens held of requests that have such steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.machine.clock import StepTime
from engine.workload import Workload

TABLE = 5_000_000  # tokens held; a longer context is charged like this one


@dataclass(frozen=True, eq=False)
class Alone:
    """Least times, seconds.

    Attributes
    ----------
    total : (n,) from arrival to the last token
    shortest : no step of any request after its first token takes less
    """

    total: np.ndarray
    shortest: float


def time_alone(workload: Workload, step: StepTime, every_run: bool = False) -> Alone:
    """The time alone of each request; `every_run` as in the module's docstring."""
    s, o = workload.prompt.astype(float), workload.output.astype(float)
    fewest = int(s[o > 1].min() if (o > 1).any() else s.min()) + 1
    if not every_run:
        # c2 times the mean context, and the rest as often as there are steps.
        steps = (o - 1) * step(0.0, 1.0, s + o / 2)
        return Alone(step(s, 0.0, 0.0) + steps, float(step(0.0, 1.0, fewest)))
    held = np.arange(1.0, min(TABLE, workload.peak.max()) + 1)
    lasts = np.minimum(step(0.0, 1.0, held), prefill_in_chunks(held, step))
    summed = np.append(0.0, np.cumsum(lasts))
    # Tokens s + 1 .. s + o - 1 are held before the steps.
    first, last = (np.minimum(x, len(lasts)).astype(int) for x in (s, s + o - 1))
    beyond = (o - 1) - (last - first)
    steps = summed[last] - summed[first] + beyond * lasts[-1]
    shortest = float(lasts[min(fewest, len(lasts)) - 1])
    return Alone(prefill_in_chunks(s, step) + steps, shortest)


def prefill_in_chunks(tokens: np.ndarray, step: StepTime) -> np.ndarray:
    """Least seconds to prefill so many tokens, cut into any number of chunks."""
    free = tokens / step.n0 if step.n0 else tokens
    tried = [np.clip(m, 1, tokens) for m in (1.0, np.floor(free), np.floor(free) + 1)]
    times = [m * step.c0 + step.c1 * np.maximum(0.0, tokens - m * step.n0) for m in tried]
    return np.minimum.reduce(times)
