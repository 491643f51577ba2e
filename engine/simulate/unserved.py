"""Who fitted and left without having been served."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording


@dataclass(frozen=True, eq=False)
class Unserved:
    """Those who fitted and left without having been served.

    Attributes
    ----------
    row : (m,) int64, trace rows
    gave_up : (m,) bool; the others were turned away
    class_of : (m,) int64, index into the classes of the workload
    """

    row: np.ndarray
    gave_up: np.ndarray
    class_of: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def in_words(self) -> str:
        """How many gave up and were turned away."""
        gave_up = int(self.gave_up.sum())
        both = {"gave up": gave_up, "were turned away": len(self) - gave_up}
        return " and ".join(f"{wording.count(n)} {what}" for what, n in both.items() if n)


NOBODY = Unserved(np.empty(0, np.int64), np.empty(0, bool), np.empty(0, np.int64))
