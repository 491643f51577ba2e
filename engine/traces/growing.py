"""A column that grows block by block."""

from __future__ import annotations

import numpy as np


class Growing:
    """Values appended in blocks, in one array.

    A list of blocks would be joined in the end, with every value in memory twice
    and the freed blocks between them. Here the array is doubled when it is full;
    the part not yet written takes no memory.
    """

    def __init__(self, dtype):
        self._room = np.empty(1 << 16, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, block: np.ndarray) -> None:
        size = self._size + len(block)
        if size > len(self._room):
            wider = np.empty(2 * size, self._room.dtype)
            wider[: self._size] = self.values
            self._room = wider
        self._room[self._size : size] = block
        self._size = size

    @property
    def values(self) -> np.ndarray:
        return self._room[: self._size]
