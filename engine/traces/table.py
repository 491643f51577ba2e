"""Rows of a comma-separated file, block by block, as columns of text.

A line is a row and a comma ends a field, always: quotes around a field are
taken off but protect nothing. So the place of every fault is exact, and a stray
quote cannot swallow the rows behind it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BLOCK = 1 << 21  # characters read at a time; bounds what a file of any size takes


def spelled_names(header: str) -> list[str]:
    """The names in a header line, without spaces and quotes around them."""
    return [name.strip().strip('"').strip() for name in header.split(",")]


def column_names(header: str) -> list[str]:
    """The same in lower case: how columns are looked up."""
    return [name.lower() for name in spelled_names(header)]


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows; blank lines are none.

    Attributes
    ----------
    lines : (r,) text of each row
    line : (r,) int64, its line in the file, counted from 1
    whole : (r,) bool, whether it has as many fields as the header
    columns : the fields of the whole rows, a (w,) text array for each column
    """

    lines: pa.StringArray
    line: np.ndarray
    whole: np.ndarray
    columns: list[pa.StringArray]


def blocks(text: io.TextIOWrapper, width: int) -> Iterator[Block]:
    """The rows behind the header of a table with `width` columns."""
    first_line = 2
    while read := text.readlines(BLOCK):
        lines = pc.utf8_trim_whitespace(pa.array(read, pa.string()))
        not_blank = pc.not_equal(lines, "")
        line = first_line + np.flatnonzero(not_blank.to_numpy(zero_copy_only=False))
        first_line += len(read)
        lines = lines.filter(not_blank)
        whole = pc.equal(pc.count_substring(lines, ","), width - 1)
        fields = pc.split_pattern(lines.filter(whole), ",").flatten()
        yield Block(
            lines,
            line,
            whole.to_numpy(zero_copy_only=False),
            [_tidy(fields.take(np.arange(j, len(fields), width))) for j in range(width)],
        )


def _tidy(column: pa.StringArray) -> pa.StringArray:
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r'^"\s*(.*?)\s*"$', r"\1")
