"""Some consecutive rows of a file, whatever its kind, as columns of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Block:
    """r rows, w of which could be taken apart; blank lines are none.

    Attributes
    ----------
    place : (r,) int64, each row's line in the file, counted from 1; None where
        rows are not lines
    whole : (r,) bool, which could be taken apart
    columns : a (w,) text array for each column asked for
    complaint : says what is wrong with the row at a position that is not whole
    """

    place: np.ndarray | None
    whole: np.ndarray
    columns: list[pa.StringArray]
    complaint: Callable[[int], str]


class Source(Protocol):
    """A file as rows: a table, JSON objects or Parquet.

    Attributes
    ----------
    names : what the rows can be asked for
    broken : what is wrong with a row that cannot be taken apart
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def broken(self) -> str: ...

    def spell(self, names: Sequence[str]) -> str | None:
        """The name under which rows have what these are alternatives for; None: none of them."""

    def blocks(self, wanted: Sequence[Sequence[str]]) -> Iterator[Block]:
        """The rows, with a column for each of the alternative names wanted."""
