"""When each round began and ended on the clock.

Rounds in which the batch stays the same form a span. With B requests decoding, each
round reads B tokens more than the one before, so the r-th round of a span lasts
step + (r - 1) * growth seconds with growth = c2*B, and the sum has a closed form: the
simulation jumps over a span instead of walking its rounds (docs/model.md 1.2).

A `RoundClock` is the clock while a kernel runs; a `Timetable` is what remains of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.machine.clock import Clock, StepTime

NEVER = np.iinfo(np.int64).max
STATE = np.dtype(
    [
        ("round", "i8"),  # how many rounds have ended
        ("seconds", "f8"),  # the time, clock units
        ("spans", "i8"),  # how many spans are written
        ("extra", "f8"),  # seconds by which the next round is longer (swapped KV cache)
    ]
)
SPAN = np.dtype(
    [
        ("first", "i8"),  # how many rounds had ended when it began
        ("begin", "f8"),  # when it began, seconds
        ("length", "f8"),  # its first round's length, seconds
        ("growth", "f8"),  # by how much each later round is longer, seconds
    ]
)


class RoundClock(NamedTuple):
    """The running clock of a simulation.

    Attributes
    ----------
    step : what a round lasts
    whole : whether idle time ends on whole rounds; then a round is a unit of time
    state : record of dtype STATE
    spans : (m,) of dtype SPAN
    """

    step: StepTime
    whole: bool
    state: np.void
    spans: np.ndarray


def new_round_clock(clock: Clock, spans: int) -> RoundClock:
    """A clock at time 0 with room for `spans` spans."""
    room = np.empty(0 if clock.whole else spans, SPAN)
    return RoundClock(clock.step, clock.whole, np.zeros(1, STATE)[0], room)


@part
def lasting(rounds, length, growth):
    """How long a span's first `rounds` rounds take."""
    return rounds * length + growth * (rounds * (rounds - 1.0) / 2.0)


@part
def step_length(step, prefilled, decoding, context):
    over = max(0.0, prefilled + decoding - step.n0)
    return step.c0 + step.c1 * over + step.c2 * context + step.c3 * decoding


@part
def pass_rounds(round_clock, rounds, prefilled, decoding, context):
    """Let `rounds` rounds pass with the same batch; `context` is K before the first."""
    state = round_clock.state
    if round_clock.whole:
        state.extra = 0.0
        state.round += rounds
        state.seconds += rounds
        return
    length = step_length(round_clock.step, prefilled, decoding, context) + state.extra
    state.extra = 0.0
    growth = round_clock.step.c2 * decoding
    span = round_clock.spans[state.spans]
    span.first = state.round
    span.begin = state.seconds
    span.length = length
    span.growth = growth
    state.spans += 1
    state.round += rounds
    state.seconds += lasting(rounds, length, growth)


@part
def _rounds_to(seconds, length, growth, moment):
    """How many rounds of a span that begins at `seconds` until one ends at or after `moment`."""
    wait = moment - seconds
    if wait <= 0.0:
        return 0
    if length == 0.0 and growth == 0.0:
        return NEVER
    # First roughly by the root of the quadratic, then exactly by the sum the clock uses.
    if growth > 0.0:
        half = length / growth - 0.5
        roughly = np.sqrt(half * half + 2.0 * wait / growth) - half
    else:
        roughly = wait / length
    if roughly > 1e15:
        return NEVER
    rounds = np.int64(max(1.0, roughly))
    while rounds > 1 and seconds + lasting(rounds - 1, length, growth) >= moment:
        rounds -= 1
    while seconds + lasting(rounds, length, growth) < moment:
        rounds += 1
    return rounds


@part
def rounds_before(round_clock, moment, decoding, context):
    """How many rounds of this batch until one begins at or after `moment`; at least 0."""
    state = round_clock.state
    if round_clock.whole:
        return max(0, np.int64(np.ceil(moment - state.seconds)))
    length = step_length(round_clock.step, 0, decoding, context)
    return _rounds_to(state.seconds, length, round_clock.step.c2 * decoding, moment)


@kernel
def _decisions_after(first, begin, length, growth, moments):
    decisions = np.zeros(moments.size, np.int64)
    for k in range(moments.size):
        span = np.searchsorted(begin, moments[k], side="right") - 1
        if span >= 0:
            rounds = first[span] + _rounds_to(begin[span], length[span], growth[span], moments[k])
            # A moment in idle time belongs to the round that ends it.
            decisions[k] = min(rounds, first[span + 1]) if span + 1 < first.size else rounds
    return decisions


@part
def wait_idle(round_clock, moment):
    """Nothing runs: the next round begins at `moment`, or at the next whole round."""
    state = round_clock.state
    if state.seconds >= moment:
        return
    if round_clock.whole:
        moment = np.ceil(moment)
        state.round = np.int64(moment)
    state.seconds = moment


@dataclass(frozen=True, eq=False)
class Timetable:
    """The spans of a run in seconds, one column for each field of SPAN."""

    first: np.ndarray
    begin: np.ndarray
    length: np.ndarray
    growth: np.ndarray

    def ends(self, rounds: np.ndarray) -> np.ndarray:
        """float64: when the given rounds (counted from 1) ended."""
        return self._moment(rounds, rounds)

    def begins(self, decisions: np.ndarray) -> np.ndarray:
        """float64: when the round after each decision began.

        A decision after r rounds is followed by round r + 1; between them an idle
        server may have waited.
        """
        return self._moment(decisions, np.asarray(decisions) + 1)

    def decisions_after(self, moments: np.ndarray) -> np.ndarray:
        """int64: how many rounds had ended at the first decision at or after each moment."""
        columns = (self.first, self.begin, self.length, self.growth)
        return _decisions_after(*columns, np.asarray(moments, float))

    def rounds_ended(self, moment: float) -> int:
        """How many rounds had ended at a moment."""
        (decision,) = self.decisions_after(np.array([moment]))
        ended = decision > 0 and self.ends(np.array([decision]))[0] <= moment
        return int(decision) if decision == 0 or ended else int(decision) - 1

    def _moment(self, passed, within):
        span = np.searchsorted(self.first, within, side="left") - 1
        return self.begin[span] + lasting.py_func(
            passed - self.first[span], self.length[span], self.growth[span]
        )


def timetable_of(round_clock: RoundClock) -> Timetable | None:
    """The written spans; None in the rounds clock, where a round is its own time."""
    if round_clock.whole:
        return None
    written = round_clock.spans[: int(round_clock.state["spans"])]
    return Timetable(
        written["first"].copy(),
        written["begin"].copy(),
        written["length"].copy(),
        written["growth"].copy(),
    )
