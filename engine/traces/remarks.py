"""What to say of how a trace was read, wherever it is used."""

from __future__ import annotations

from engine.traces.formats import canonical
from engine.traces.report import Report

WALL_CLOCK = (
    "This log is in seconds, and a round is taken to last 1 s: say how long one is "
    "(--round-seconds)."
)


def on_wall_clock(report: Report) -> bool:
    """Whether arrivals are in seconds for certain, as in every log of a server."""
    return report.format != canonical.NAME and report.span_s > 0


def remarks(report: Report, in_rounds: bool = False, round_seconds: float = 1.0) -> list[str]:
    """What was set aside or guessed, and whether seconds are taken for rounds.

    Parameters
    ----------
    in_rounds : whether the requests are served on the clock of rounds
    round_seconds : by which their arrivals are divided then
    """
    taken = on_wall_clock(report) and in_rounds and round_seconds == 1.0
    return [*report.remarks(), *([WALL_CLOCK] if taken else [])]
