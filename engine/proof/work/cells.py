"""Time cut into cells, and the tokens of a request grouped as coarsely.

Every step of a request after its first token takes at least d seconds
(engine.proof.work.alone), so token j of one that completes at C is there by
C - (o - j) d. Cells last D <= k d for a whole k, so that by is no later than

    C - h D   with   h = floor((o - j) / k),

and the k tokens with the same h move from cell to cell together. k = 1 is the exact form;
a larger k only lets tokens come later than they can, which never raises the bound, as
prices never rise. Where k is the largest output all h are 0, and D may be anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.proof.work.envelope import Work

LESS = 1 - 1e-12  # more than rounding can take off a time or a work


@dataclass(frozen=True)
class Cells:
    """`count` cells of `width` seconds each from the first arrival on; `group` is k."""

    width: float
    group: int
    count: int

    @property
    def middle(self) -> np.ndarray:
        """(count,) the middle of each, seconds."""
        return (np.arange(self.count) + 0.5) * self.width


def cells_over(seconds: float, shortest: float, longest: int, count: int) -> Cells:
    """Cells that cover a time: as narrow as steps allow, and not many more than `count`.

    Parameters
    ----------
    seconds : the time to cover
    shortest : d, the least seconds of a step
    longest : the most output tokens of a request
    """
    wanted = max(seconds / count, 1e-300)
    most = np.ceil(wanted / shortest) if shortest > 0 else np.inf
    group = int(min(max(most, 1), longest))
    width = group * shortest * LESS if group * shortest >= wanted else wanted
    return Cells(width, group, int(seconds / width) + 1)


class GroupedWork(NamedTuple):
    """The work of a request by groups h = 0 .. last, under one envelope; all (n,).

    Attributes
    ----------
    last : int64, the group of the first token
    level, fall : group h < last costs level - fall * h seconds, a full group of k tokens
    tail : what the last group costs, seconds
    """

    last: np.ndarray
    level: np.ndarray
    fall: np.ndarray
    tail: np.ndarray


def in_groups(work: Work, output: np.ndarray, cells: Cells) -> GroupedWork:
    """Group h < last holds the tokens o - (h+1) k + 1 .. o - h k, the last one the rest."""
    k = cells.group
    last = (output - 1) // k
    level = k * work.base + work.slope * (k * output - k * (k - 1) / 2)
    rest = (output - last * k).astype(float)  # the last group's tokens are 1 .. rest
    tail = work.first + (rest - 1) * work.base + work.slope * (rest * (rest + 1) / 2 - 1)
    return GroupedWork(last, level, work.slope * k * k, tail)
