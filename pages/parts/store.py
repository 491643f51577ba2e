"""Results kept between reruns, shared by all sessions and bounded in bytes.

streamlit's own caches either copy every result or cannot be bounded in size, and
neither may report progress from within; runs are immutable, so one dictionary of
the most recently used ones serves everybody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import streamlit as st
from cachetools import LRUCache

from engine import Run

MOST_BYTES = 400_000_000


def _bytes(result: Any) -> int:
    """A lower estimate of what a result holds, from the arrays in it."""
    if isinstance(result, np.ndarray):
        return result.nbytes
    if isinstance(result, (list, tuple)):
        return 100 + sum(_bytes(item) for item in result)
    if isinstance(result, Run):  # its workload is shared, and kept under a key of its own
        schedule = result.schedule
        return _bytes([schedule.start, schedule.finish, schedule.walk, schedule.logged])
    if hasattr(result, "__dict__"):
        return 1000 + sum(_bytes(item) for item in vars(result).values())
    return 100


class Store:
    """A least-recently-used cache that several script threads may use at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: LRUCache[Hashable, Any] = LRUCache(MOST_BYTES, getsizeof=_bytes)

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._results

    def peek(self, key: Hashable) -> Any | None:
        """The kept result, or None."""
        with self._lock:
            return self._results.get(key)

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The kept result, or a computed one; two sessions may compute the same at once."""
        with self._lock:
            if key in self._results:
                return self._results[key]
        result = compute()
        self.put(key, result)
        return result

    def put(self, key: Hashable, result: Any) -> None:
        """Keep a result, if there is room for it at all."""
        with self._lock:
            if _bytes(result) <= MOST_BYTES:
                self._results[key] = result


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The one store of this server."""
    return Store()
