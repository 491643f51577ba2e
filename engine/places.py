"""Places: so many pieces of work at once, over all who ask; who comes later waits and is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import InputError
from engine.progress import Progress

TELL = 0.2  # seconds between two reports of who waits; a report may stop the wait
PATIENCE = 90.0  # seconds


class Places:
    """Places for work, `most` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places = threading.Semaphore(most)

    @contextmanager
    def taken(self, progress: Progress) -> Iterator[None]:
        """Within it a place is taken; before it, the wait for one.

        Raises
        ------
        InputError
            Where none becomes free for long; and whatever `progress` raises.
        """
        end = time.monotonic() + PATIENCE
        while not self._places.acquire(timeout=TELL):
            if time.monotonic() > end:
                raise InputError(
                    f"this server is busy with {self._most} jobs of other visitors, as many as it "
                    "runs at once: try again in a minute"
                )
            progress(0.0, f"waiting for one of {self._most} jobs of other visitors to end")
        try:
            yield
        finally:
            self._places.release()
