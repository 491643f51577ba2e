"""What reading a trace found out: how many rows, what was left out and why."""

from __future__ import annotations

from dataclasses import dataclass, field


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
    notes : sentences on what else the user should know
    """

    format: str
    rows_in: int
    rows_kept: int
    set_aside: dict[str, int]
    time_unit: str
    span_s: float
    distinct_arrivals: int
    notes: tuple[str, ...] = field(default=())

    @property
    def rate(self) -> float | None:
        """Requests a second; None where all arrive at once."""
        return self.rows_kept / self.span_s if self.span_s > 0 else None

    def remarks(self) -> list[str]:
        """Sentences for people; none when every row of the file was used in full."""
        left_out = [
            f"{count:,} of {self.rows_in:,} rows set aside: {reason}"
            for reason, count in self.set_aside.items()
        ]
        return left_out + list(self.notes)
