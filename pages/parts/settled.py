"""The objects of the program itself, kept out of the way of the garbage collector.

streamlit collects all garbage after every run of a page. With the modules, the compiled kernels
and their types that is a walk over a quarter of a million objects, none of them garbage, which
takes three times as long as the page and stops all other visitors meanwhile.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def settle() -> None:
    """Once, when a page was drawn for the first time: what is there by then is there to stay."""
    gc.collect()
    gc.freeze()
