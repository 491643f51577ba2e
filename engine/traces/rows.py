"""Rows judged: every row of a file is kept, or is an error, or is set aside with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from engine.errors import InputError
from engine.traces.block import Block, Source
from engine.traces.ceilings import check_rows
from engine.traces.columns import Kind
from engine.traces.growing import Growing

GOOD = -1
BROKEN = -2  # a fault >= 0 is the number of the first bad field


@dataclass(frozen=True)
class Field:
    """What rows are asked for.

    Attributes
    ----------
    role : what its values are called in `Rows.columns`
    names : alternatives, as any file may spell it; a dot leads into an object
    kind : what it must hold
    optional : whether a table without it is read too
    """

    role: str
    names: tuple[str, ...]
    kind: Kind
    optional: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """The good rows of a file.

    Attributes
    ----------
    columns : each field's (k,) values by its role
    row : (k,) int64, each one's row in the file, counted from 0
    rows_in : how many rows the file has
    set_aside : how many were not kept, by reason
    """

    columns: dict[str, np.ndarray]
    row: np.ndarray
    rows_in: int
    set_aside: dict[str, int]


def read_rows(source: Source, fields: Sequence[Field], strict: bool) -> Rows:
    """The rows of a file.

    Parameters
    ----------
    source : the file
    fields : what its rows are asked for
    strict : whether a bad row is an error; otherwise it is set aside

    Raises
    ------
    InputError
        For a file without these fields, or without a good row, and, if strict,
        for the first bad row: its number and line, the field, the value and what
        it must be.
    """
    there = [(asked, name) for asked in fields if (name := _spelled(source, asked)) is not None]
    judge = _Judge([asked for asked, _ in there], [name for _, name in there], source.broken)
    for block in source.blocks([asked.names for asked, _ in there]):
        judge.take(block, strict)
    pa.default_memory_pool().release_unused()  # some 50 MB, kept for texts that will not come
    if judge.rows_in == 0:
        raise InputError("the file has a header but no rows")
    if len(judge.row) == 0:
        reasons = ", ".join(f"{count} x {why}" for why, count in judge.set_aside.items())
        raise InputError(f"no row can be used: {reasons}")
    roles = [asked.role for asked, _ in there]
    values = [column.values for column in judge.columns]
    columns = dict(zip(roles, values, strict=True))
    return Rows(columns, judge.row.values, judge.rows_in, dict(judge.set_aside))


def _spelled(source: Source, asked: Field) -> str | None:
    """The file's name for a field; None where it has none and need not."""
    name = source.spell(asked.names)
    if name is None and not asked.optional:
        there = ", ".join(source.names)[:200]
        raise InputError(f"the file has no column {asked.names[0]}; found: {there}")
    return name


@dataclass(eq=False)
class _Judge:
    """The good rows so far, and what became of the others.

    `names` are the fields as the file spells them, `broken` is the reason for rows
    that could not be taken apart.
    """

    fields: list[Field]
    names: list[str]
    broken: str
    columns: list[Growing] = field(init=False)
    row: Growing = field(default_factory=lambda: Growing(np.int64))
    rows_in: int = 0
    set_aside: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.columns = [Growing(asked.kind.dtype) for asked in self.fields]

    def take(self, block: Block, strict: bool) -> None:
        """Sort the rows of a block into good and bad."""
        values, fault = self._faults(block)
        good = fault == GOOD
        if not good.all():
            if strict:
                raise InputError(self._complaint(block, fault))
            codes, counts = np.unique(fault[~good], return_counts=True)
            for code, count in zip(codes, counts.tolist(), strict=True):
                self.set_aside[self._reason(code)] += count
        for column, new in zip(self.columns, values, strict=True):
            column.append(new[good[block.whole]])
        self.row.append(self.rows_in + np.flatnonzero(good))
        self.rows_in += len(good)
        check_rows(self.rows_in)

    def _faults(self, block: Block) -> tuple[list[np.ndarray], np.ndarray]:
        """The values of the whole rows by field, and (r,) the fault of every row."""
        values = []
        fault_of_whole = np.full(int(block.whole.sum()), GOOD)
        for number, (asked, column) in enumerate(zip(self.fields, block.columns, strict=True)):
            read, good = asked.kind(column)
            values.append(read)
            fault_of_whole[~good & (fault_of_whole == GOOD)] = number
        fault = np.full(len(block.whole), BROKEN)
        fault[block.whole] = fault_of_whole
        return values, fault

    def _reason(self, code: int) -> str:
        if code == BROKEN:
            return self.broken
        return f"{self.names[code]} is not {self.fields[code].kind.need}"

    def _complaint(self, block: Block, fault: np.ndarray) -> str:
        """What is wrong with the block's first bad row, and where."""
        at = int(np.flatnonzero(fault != GOOD)[0])
        line = "" if block.place is None else f" (line {block.place[at]} of the file)"
        place = f"row {self.rows_in + at + 1}{line}"
        if fault[at] == BROKEN:
            return f"{place}: {block.complaint(at)}"
        number = fault[at]
        value = block.columns[number][at].as_py()  # all rows before it are good, so whole
        got = f"got {value[:60]!r}" if value else "it is blank"
        return f"{place}, {self.names[number]}: must be {self.fields[number].kind.need}, {got}"
