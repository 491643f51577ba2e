"""Floors under the length of a round that add up over the requests in it.

A round with prompts x_1, x_2, .. to prefill and B decoding requests, which count as
x = 1 each, lasts c0 + c1*max(0, sum x - N0) + c2*K + c3*B seconds. For a knee m from 0 to
N0 and a share theta from 0 to 1,

    max(0, sum x - N0)  >=  theta * (sum of max(0, x - m)  -  (N0 - m)).

*Proof.* theta = 1 is enough, as the left side is not negative. If no x is above m, the
right side is not positive. If k >= 1 of them are, it is their sum - k m - N0 + m, at most
sum x - N0. With g0 = c0 - theta*c1*(N0 - m) >= 0 and g1 = theta*c1 it follows that

    T  >=  g0  +  sum over prompts of g1*max(0, x - m)
              +  sum over decoding requests of (c2*held + c3 + g1*max(0, 1 - m)).

m = 0 is the straight line, which counts every token and gives up c1*N0 of c0. m = N0 is
the superadditive envelope, which keeps all of c0 and loses N0 tokens a prompt.

The memory held at a round's end is at most M, so g0 is at least the sum of g0*held/M over
those requests. Hence each token of a request has a work of its own, and the works of the
tokens that a round yields add up to no more than its length:

    w_1 = g1*max(0, s - m) + g0*(s + 1)/M
    w_j = d_j + g0*(s + j)/M,   d_j = c2*(s + j - 1) + c3 + g1*max(0, 1 - m),   j >= 2.

*Every run.* A request may take its j-th token in a round that prefills its prompt and
tokens again, s + j - 1 of them, so d_j is the lesser of the above and g1*(s + j - 1).
Prompts may be cut: with m = 0, and only then, the chunks of a prompt cost what the whole
does, in rounds that end no later than the one with the token. What is dropped before its
last use, by a restart, is not charged at all; a swapped request decodes as ever, in
rounds that the transfer makes longer. Pauses and memory held after the end only add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.machine.clock import StepTime
from engine.workload import Workload


class Envelope(NamedTuple):
    """Which floor: the share theta of the slope c1 that is counted, and the knee m, tokens."""

    theta: float
    knee: float


def steepest(step: StepTime, knee: float = 0.0) -> Envelope:
    """The envelope with this knee and the largest theta for which g0 >= 0."""
    given_up = step.c1 * (step.n0 - knee)
    return Envelope(1.0 if given_up <= step.c0 else step.c0 / given_up, knee)


def floors(step: StepTime, every_run: bool = False) -> tuple[Envelope, ...]:
    """The two that say most together: the steepest line, and one that keeps all of c0.

    Where prompts may be cut, all of c0 is kept only by counting no tokens at all.
    """
    whole = Envelope(0.0, 0.0) if every_run else steepest(step, step.n0)
    return tuple(dict.fromkeys((steepest(step), whole)))


@dataclass(frozen=True, eq=False)
class Work:
    """What each token of each request costs the machine at least, seconds; all (n,) float64.

    Attributes
    ----------
    first : w_1, the work of the first token
    base, slope : w_j >= base + slope * j for the tokens j = 2 .. o, exact but where d_j is
        the lesser of two lines that cross: a concave function, which lies above its chord
    total : the sum of all w_j, exact
    """

    first: np.ndarray
    base: np.ndarray
    slope: np.ndarray
    total: np.ndarray


def work(
    workload: Workload, memory: int, step: StepTime, envelope: Envelope, every_run: bool = False
) -> Work:
    """The work of each request under an envelope.

    Parameters
    ----------
    every_run : also for runs that prefill generated tokens again or cut prompts; the
        envelope's knee must then be 0
    """
    s, o = workload.prompt.astype(float), workload.output.astype(float)
    g1 = envelope.theta * step.c1
    # A theta that makes g0 vanish may leave a rounding error below 0.
    g0 = max(0.0, step.c0 - g1 * (step.n0 - envelope.knee))
    decode = (step.c3 + g1 * max(0.0, 1.0 - envelope.knee), step.c2)
    held = g0 / memory
    first = g1 * np.maximum(0.0, s - envelope.knee) + held * (s + 1)
    on_tokens = _Lesser(decode, (0.0, g1)) if every_run else _Lesser(decode, decode)
    second, last = on_tokens.at(s + 1), on_tokens.at(s + o - 1)
    chord = np.where(o > 2, (last - second) / np.maximum(1.0, o - 2), 0.0)
    later = on_tokens.sum(s + 1, o - 1) + held * ((o - 1) * s + (o - 1) * (o + 2) / 2)
    return Work(first, second - 2 * chord + held * s, chord + held, first + later)


class _Lesser(NamedTuple):
    """The lesser of two lines (at 0, slope), over tokens held before a round."""

    line: tuple[float, float]
    other: tuple[float, float]

    def at(self, x):
        return np.minimum(self.line[0] + self.line[1] * x, self.other[0] + self.other[1] * x)

    def sum(self, first, count):
        """Over first, first + 1, .. (count of them), by cutting where the lines cross."""
        steeper = self.other[1] - self.line[1]
        crossing = (self.line[0] - self.other[0]) / steeper if steeper else 0.0
        below = np.clip(np.ceil(crossing - first), 0, count)
        return self._sum(first, below) + self._sum(first + below, count - below)

    def _sum(self, first, count):
        """The same where one line is the lesser all along: a mean of the ends."""
        last = first + np.maximum(count, 1) - 1
        return count * (self.at(first) + self.at(last)) / 2
