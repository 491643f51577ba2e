"""What a format returns: the requests of a file on a clock of seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Requests:
    """The requests of a file, n of them.

    Attributes
    ----------
    seconds : (n,) float64, arrivals >= 0
    prompt, output : (n,) tokens
    row : (n,) each one's row in the file, counted from 0
    rows_in : rows in the file
    set_aside : how many were left out, by reason
    class_of, classes : (n,) index into the names of the classes; None: one class
    time_unit : of the file's arrivals
    notes : sentences on what else the user should know
    """

    seconds: np.ndarray
    prompt: np.ndarray
    output: np.ndarray
    row: np.ndarray
    rows_in: int
    set_aside: dict[str, int] = field(default_factory=dict)
    class_of: np.ndarray | None = None
    classes: tuple[str, ...] = ("all",)
    time_unit: str = "s"
    notes: tuple[str, ...] = ()
