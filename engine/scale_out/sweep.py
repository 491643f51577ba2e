"""A sweep: pieces of work, and what every way of running them needs to know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.progress import Progress

TICK = 0.1  # seconds between two looks at whether a sweep was cancelled


class Stopped(Exception):
    """Ends a piece of a sweep that was cancelled."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Pieces of work that do not need one another.

    Attributes
    ----------
    do : (shared, item, progress) -> result; a function of a module, so that workers find it by
        its name. Its result depends on nothing but `shared` and `item`
    shared : what every piece needs; sent once
    items : one a piece
    """

    do: Callable[[Any, Any, Progress], Any]
    shared: Any
    items: Sequence[Any]

    def __len__(self) -> int:
        return len(self.items)


def done_of(done: int, sweep: Sweep) -> str:
    """`3 of 24`."""
    return f"{done} of {len(sweep)}"
