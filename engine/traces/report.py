"""What reading a trace found out: how many rows, what was left out and why."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from engine.traces.requests import TraceRequests
from engine.wording import readable

CHUNK = 1 << 20  # moments
COARSE = 10  # one request in so many ties with another: worth saying


@dataclass(frozen=True)
class Report:
    """How a file became a workload.

    Attributes
    ----------
    format : the name of its layout
    rows_in, rows_kept : rows in the file, and requests made of them
    set_aside : how many rows were left out, by reason
    time_unit : of the file's arrivals
    span_s : seconds from the first arrival to the last
    distinct_arrivals : how many different arrival times there are
    largest_burst : the most requests with the same arrival time
    measured : how many requests come with a measured ttft and latency
    notes : sentences on what else the user should know
    part : which part of the file is looked at, in words; empty: all of it
    """

    format: str
    rows_in: int
    rows_kept: int
    set_aside: dict[str, int]
    time_unit: str
    span_s: float
    distinct_arrivals: int
    largest_burst: int
    measured: dict[str, int]
    notes: tuple[str, ...] = field(default=())
    part: str = ""

    @classmethod
    def of(cls, requests: TraceRequests, layout: str) -> Report:
        """The report on the requests read from a file of this layout."""
        distinct, largest = ties(requests.seconds)
        durations = {"ttft": requests.ttft, "latency": requests.latency}
        return cls(
            format=layout,
            rows_in=requests.rows_in,
            rows_kept=len(requests),
            set_aside=requests.set_aside,
            time_unit=requests.time_unit,
            span_s=float(np.ptp(requests.seconds)),
            distinct_arrivals=distinct,
            largest_burst=largest,
            measured={
                name: 0 if values is None else int(np.isfinite(values).sum())
                for name, values in durations.items()
            },
            notes=requests.notes,
            part=requests.part,
        )

    @property
    def rate(self) -> float | None:
        """Requests a second, one a gap between arrivals; None where all arrive at once.

        A span of 1e-320 s has no rate that a float can hold.
        """
        rate = (self.rows_kept - 1) / self.span_s if self.span_s > 0 else math.inf
        return rate if math.isfinite(rate) else None

    @property
    def ties(self) -> int:
        """Requests that arrive at the very moment of an earlier one."""
        return self.rows_kept - self.distinct_arrivals

    @property
    def is_coarse(self) -> bool:
        """Whether so many tie that the times must have been rounded; not where all are the same."""
        return self.ties > self.rows_kept / COARSE and self.distinct_arrivals > 1

    def remarks(self) -> list[str]:
        """Sentences for people; none when every row of the file was used in full."""
        left_out = [
            f"{count:,} of {self.rows_in:,} rows set aside: {reason}"
            for reason, count in self.set_aside.items()
        ]
        return [readable(remark) for remark in (*left_out, *self.notes)]


def ties(seconds: np.ndarray) -> tuple[int, int]:
    """How many different moments there are, and how often the most frequent one is there.

    By chunks of the sorted moments, because their differences and places would be two more
    copies of a column.
    """
    if not (seconds[1:] >= seconds[:-1]).all():
        seconds = np.sort(seconds)
    distinct, largest, begun = 1, 1, 0  # begun: where the present moment's first is
    for first in range(1, len(seconds), CHUNK):
        last = min(first + CHUNK, len(seconds))
        new = first + np.flatnonzero(seconds[first:last] != seconds[first - 1 : last - 1])
        if len(new):
            distinct += len(new)
            largest = max(largest, new[0] - begun, np.diff(new, append=new[-1]).max())
            begun = new[-1]
        largest = max(largest, last - begun)
    return distinct, int(largest)
