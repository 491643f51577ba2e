"""Memory between runs of pages: the collector spared what stays, the system given what has gone.

streamlit collects all garbage after every run of a page. With the modules, the compiled kernels
and their types that is a walk over a quarter of a million objects, none of them garbage, which
takes three times as long as the page and stops all other visitors meanwhile.
"""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from functools import cache


@cache
def settle() -> None:
    """Once, when a page was drawn for the first time: what is there by then is there to stay."""
    gc.collect()
    gc.freeze()


def settle_again() -> None:
    """Collect also what has become garbage of what was there then, and let the system have it."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    give_back()


def give_back() -> None:
    """Let the system have the memory that is free: the C library keeps it for the next ones."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
