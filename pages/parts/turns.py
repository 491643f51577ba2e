"""Whose turn it is to be drawn: pages that are asked for at once are drawn one after the other.

Threads of Python share one lock. Twenty pages drawn at the same time would all be ready at the
end, and later than that, as every message to a browser lets go of the lock; one after the other,
the first is ready after a twentieth of the time. Who takes long, as to read a large trace, keeps
nobody waiting: after LONGEST the next begins beside it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

LONGEST = 0.25  # seconds


class Turns:
    """First come, first served.

    Parameters
    ----------
    longest : seconds after which the next one's turn begins, though this one's has not ended
    """

    def __init__(self, longest: float = LONGEST) -> None:
        self._longest = longest
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()
        self._holder: object | None = None
        self._begun = 0.0

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn, and have it until the end of the block."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            try:
                while self._waiting[0] is not ticket or self._left() > 0:
                    self._changed.wait(self._left() if self._waiting[0] is ticket else None)
            finally:
                self._waiting.remove(ticket)
            self._holder, self._begun = ticket, time.monotonic()
            self._changed.notify_all()  # the next one counts from now on
        try:
            yield
        finally:
            with self._changed:
                if self._holder is ticket:
                    self._holder = None
                    self._changed.notify_all()

    def _left(self) -> float:
        """Seconds that a turn still may last."""
        return 0.0 if self._holder is None else self._begun + self._longest - time.monotonic()


@cache
def turns() -> Turns:
    """Those of this server."""
    return Turns()
