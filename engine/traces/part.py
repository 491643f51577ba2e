"""Which part of a trace is looked at: a window of its time, a share of its requests.

Jitter comes first, because only the whole trace shows how wide the bins are that arrivals
were rounded to; then the window, on the spread arrivals; then the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from engine import wording
from engine.traces.requests import TraceRequests, errors_of
from engine.traces.thinning import jitter, sample, window

STEPS = (
    1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600,
    900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
)  # fmt: skip
MOST_STEPS = 150  # between the ends of a trace: what a slider can tell apart
DAY = 86_400


@dataclass(frozen=True)
class TracePart:
    """What to look at of a trace; all of it by default.

    Attributes
    ----------
    between : from which second up to which, counted from the first arrival; None: all
    share : of the requests, drawn with the seed
    jittered : whether arrivals are spread within the bins they were rounded to
    """

    between: tuple[float, float] | None = None
    share: float = 1.0
    jittered: bool = False
    seed: int = 0

    def of(self, requests: TraceRequests) -> TraceRequests:
        """The requests in this part of a trace; what is left out is counted, by reason.

        Raises
        ------
        InputError
            Where none is left, or there is nothing to spread.
        """
        part = requests
        with errors_of(requests.source):
            if self.jittered:
                part = jitter(part, self.seed)
            if self.between is not None:
                part = window(part, *self.between)
            part = sample(part, self.share, self.seed)
        words = self.in_words(requests)
        return replace(part, part=words) if words else part

    def in_words(self, whole: TraceRequests) -> str:
        """`14:00 to 15:00, 1 in 10 requests, arrivals spread`; nothing for all of it."""
        words = []
        if self.between is not None:
            words.append(_span_in_words(*self.between, whole))
        if self.share < 1:
            words.append(_share_in_words(self.share))
        if self.jittered:
            words.append("arrivals spread within their bins")
        return ", ".join(words)


def _share_in_words(share: float) -> str:
    one_in = round(1 / share)
    if abs(one_in * share - 1) < 1e-9:
        return f"1 in {wording.count(one_in)} requests"
    return f"{wording.percent(share)} of the requests"


def _span_in_words(first: float, last: float, whole: TraceRequests) -> str:
    """`14:00 to 15:00`, `from 14:00 on`: ends beyond the trace have no name."""
    name_of = namer(whole)
    begin = name_of(max(first, steps(whole)[0]))
    return f"{begin} to {name_of(last)}" if last <= steps(whole)[-1] else f"from {begin} on"


def steps(requests: TraceRequests) -> tuple[float, ...]:
    """Seconds at which a window may begin or end, from before the first arrival to after the last.

    They lie at round times of day where the trace says when it began.
    """
    span = float(requests.seconds.max())
    step = next((step for step in STEPS if span <= MOST_STEPS * step), None)
    step = step or DAY * (1 + span // (MOST_STEPS * DAY))
    begun = round(requests.began % step, 3) if requests.began and step >= 1 else 0.0
    at = np.round(np.arange((span + begun) // step + 3) * step - begun, 6)
    return tuple(at[: np.searchsorted(at, span, side="right") + 1].tolist())


def namer(requests: TraceRequests) -> Callable[[float], str]:
    """What to call a moment of a trace, given in seconds since its first request.

    `16 Nov 18:15` where it says when it began, else `1:02:03`; a plain number where its clock
    may be of any unit.
    """
    span = float(np.ptp(requests.seconds))

    def since_first(seconds: float) -> str:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"

    def time_of_day(seconds: float) -> str:
        at = datetime.fromtimestamp(round((requests.began or 0.0) + seconds), UTC)
        day = f"{at.day} {at:%b} " if span >= DAY else ""
        return day + (f"{at:%H:%M}" if span > MOST_STEPS * 30 else f"{at:%H:%M:%S}")

    if not requests.unit_known:
        return lambda moment: f"{moment:,.6g}".replace(",", wording.THIN)
    if span < MOST_STEPS:  # steps within a second
        return lambda seconds: f"{seconds:g}{wording.THIN}s"
    return since_first if requests.began is None else time_of_day
