"""The memory that a result holds: its arrays, and all the objects that lead to them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd


@dataclass(eq=False)
class Holdings:
    """What is held.

    Attributes
    ----------
    arrays : bytes of each array, by its identity: several results may share one
    objects : bytes of everything else
    """

    arrays: dict[int, int] = field(default_factory=dict)
    objects: int = 0

    def add(self, other: Holdings | None) -> int:
        """Hold these, too; the bytes by which that is more."""
        if other is None:
            return 0
        new = {key: size for key, size in other.arrays.items() if key not in self.arrays}
        self.arrays |= new
        self.objects += other.objects
        return sum(new.values()) + other.objects


def holdings_of(result: Any) -> Holdings:
    """All that a result leads to; of a part of an array the whole, which it keeps alive."""
    holdings = Holdings()
    seen: set[int] = set()
    waiting = [result]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (type, ModuleType)) or callable(value):
            continue  # code is nobody's result
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            whole = _whole(value)
            holdings.arrays[id(whole)] = whole.nbytes
        elif isinstance(value, (pd.DataFrame, pd.Series)):
            holdings.objects += int(np.sum(value.memory_usage(deep=True)))
        else:
            holdings.objects += sys.getsizeof(value)
            waiting.extend(_within(value))
    return holdings


def _whole(array: np.ndarray) -> np.ndarray:
    """The array that this is a part of; the last whose memory is not an array's, as of kernels."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _within(value: Any) -> Iterator[Any]:
    """What a value leads to."""
    if isinstance(value, dict):
        yield from list(value)  # at once: another thread may be adding to it
        yield from list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    if hasattr(value, "__dict__"):
        yield vars(value)
    for name in getattr(value, "__slots__", ()):
        yield getattr(value, name, None)
