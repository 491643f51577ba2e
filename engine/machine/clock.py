"""What a round lasts: one unit of time, or seconds on a GPU (docs/model.md 1.1, 1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.errors import InputError
from engine.fields import number_in

LONGEST = 1e6  # seconds or tokens; far above any coefficient of a real server


class StepTime(NamedTuple):
    """Coefficients of T = c0 + c1*max(0, N - N0) + c2*K + c3*B, the length of a round.

    P prompt tokens are prefilled in the round, B requests decode in it, N = P + B, and
    K tokens are held by those that decode before it.

    Attributes
    ----------
    c0 : seconds, for reading the weights once
    c1 : seconds a token beyond n0
    n0 : tokens that ride along while the weights are read
    c2 : seconds a token of KV cache that is read
    c3 : seconds a decoding request
    """

    c0: float
    c1: float
    n0: float
    c2: float
    c3: float

    def __call__(self, prefilled, decoding, context):
        """Seconds of a round; arguments are P, B and K, numbers or arrays."""
        extra = prefilled + decoding - self.n0
        return self.c0 + self.c1 * extra * (extra > 0) + self.c2 * context + self.c3 * decoding


@dataclass(frozen=True)
class Clock:
    """How time is told in a run.

    Attributes
    ----------
    unit : `rounds` or `seconds`
    step : what a round lasts, in that unit
    whole : whether decisions fall on whole numbers only: an idle server then waits for the
        next one after an arrival, and does not start at the arrival itself
    """

    unit: str
    step: StepTime
    whole: bool = False

    @property
    def is_rounds(self) -> bool:
        return self.whole


ROUNDS = Clock("rounds", StepTime(1.0, 0.0, 0.0, 0.0, 0.0), whole=True)


def seconds_clock(c0: float, c1: float = 0.0, n0: float = 0.0, c2: float = 0.0, c3: float = 0.0):
    """The clock of a GPU with these coefficients; InputError names a bad one."""
    by_name = {"c0": c0, "c1": c1, "N0": n0, "c2": c2, "c3": c3}
    step = StepTime(
        *(number_in(f"coefficient {name}", value, 0, LONGEST) for name, value in by_name.items())
    )
    if step.c0 + step.c1 + step.c2 + step.c3 == 0:
        raise InputError("the coefficients are all 0: a round must take time, so give c0 > 0")
    return Clock("seconds", step)
