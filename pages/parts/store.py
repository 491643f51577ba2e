"""Results kept between reruns, shared by all sessions, bounded in bytes and in time.

What only visitors have used who have left goes within minutes.

streamlit's own caches either copy every result or cannot be bounded in size, and
neither may report progress from within; runs are immutable, so one dictionary of
the most recently used ones serves everybody.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts.holdings import Holdings, holdings_of
from pages.parts.settled import give_back

MOST_BYTES = 400_000_000  # of results
MOST_UPLOADED = 2_500_000_000  # bytes of traces as they were read: one of 30 million rows fits
LIFE = 3600.0  # seconds without use
LIFE_OF_UPLOADS = 600.0
LIFE_AFTER = float(os.environ.get("HEADROOM_KEEP_SECONDS", "300"))  # all have left who used it
RECOUNT = 5.0  # seconds after which all that was used is measured anew; sooner where room is short


@dataclass(eq=False)
class _Kept:
    """A result, when and by whom it was used, and what it held when that was measured last."""

    result: Any
    used: float
    holdings: Holdings | None = None  # None: used since, and may have worked out more
    visitors: set[str] = field(default_factory=set)  # who used it and are still here


class Store:
    """A least-recently-used cache that several script threads may use at once.

    Parameters
    ----------
    most_bytes : that all results together hold; what several share counts once
    life : seconds without use after which a result goes
    life_after : the same, where nobody is here any more who has used it
    """

    def __init__(
        self, most_bytes: int = MOST_BYTES, life: float = LIFE, life_after: float = LIFE_AFTER
    ) -> None:
        self._most, self._life, self._life_after = most_bytes, life, min(life, life_after)
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._timer: threading.Timer | None = None
        self._counted, self._together = 0.0, 0  # when all was counted; bytes, or fewer by now

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._results

    def peek(self, key: Hashable) -> Any | None:
        """The kept result, or None."""
        with self._lock:
            return self._use(key) if key in self._results else None

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The kept result, or a computed one; two sessions may compute the same at once."""
        with self._lock:
            if key in self._results:
                return self._use(key)
        result = compute()
        self.put(key, result)
        return result

    def put(self, key: Hashable, result: Any) -> None:
        """Keep a result, if there is room for it at all."""
        holdings = holdings_of((key, result))
        size = holdings.objects + sum(holdings.arrays.values())
        with self._lock:
            if size > self._most:  # nor do others go for it
                self._results.pop(key, None)
                return
            moment = time.monotonic()
            self._results[key] = _Kept(result, moment, holdings, _visitor())
            self._results.move_to_end(key)
            self._together += size
            if self._together > self._most / 2 or moment - self._counted > RECOUNT:
                self._let_go()
            self._look_again()

    @property
    def bytes(self) -> int:
        """What all results together held when they were measured last."""
        with self._lock:
            together = Holdings()
            return sum(together.add(kept.holdings) for kept in self._results.values())

    def leave(self, visitor: str) -> None:
        """Take note that this visitor is gone."""
        with self._lock:
            for kept in self._results.values():
                kept.visitors.discard(visitor)

    def _use(self, key: Hashable) -> Any:
        kept = self._results[key]
        kept.used, kept.holdings = time.monotonic(), None
        kept.visitors |= _visitor()
        self._results.move_to_end(key)
        return kept.result

    def _let_go(self) -> None:
        """Drop what is too old, and of the others the oldest that are too much."""
        moment = time.monotonic()
        together, total = Holdings(), 0
        for key, kept in reversed(list(self._results.items())):
            if kept.holdings is None:
                kept.holdings = holdings_of((key, kept.result))
            total += together.add(kept.holdings)
            life = self._life if kept.visitors else self._life_after
            if moment - kept.used > life or total > self._most:
                del self._results[key]
        self._counted, self._together = time.monotonic(), min(total, self._most)

    def _look_again(self) -> None:
        """Let go of what is too old, though nobody asks for anything any more."""
        if self._timer is None and self._results:
            self._timer = threading.Timer(self._life_after / 10, self._on_time)
            self._timer.daemon = True
            self._timer.start()

    def _on_time(self) -> None:
        with self._lock:
            before = len(self._results)
            self._timer = None
            self._let_go()
            self._look_again()
            less = len(self._results) < before
        if less:
            give_back()


def _visitor() -> set[str]:
    """Whose page runs in this thread, if any."""
    run = get_script_run_ctx(suppress_warning=True)
    return set() if run is None else {run.session_id}


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The one store of this server for results."""
    return Store()


@st.cache_resource(show_spinner=False)
def uploads() -> Store:
    """The one store of this server for what was read from files."""
    return Store(MOST_UPLOADED, LIFE_OF_UPLOADS)
