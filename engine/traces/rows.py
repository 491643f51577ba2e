"""Rows judged: every row of a table is kept, or is an error, or is set aside with a reason."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.errors import InputError
from engine.traces.columns import Kind
from engine.traces.growing import Growing
from engine.traces.table import Block, blocks, column_names, spelled_names

GOOD = -1
RAGGED = -2  # a fault >= 0 is the number of the first bad column


@dataclass(frozen=True, eq=False)
class Rows:
    """The good rows of a table.

    Attributes
    ----------
    columns : each column's (k,) values by its name
    row : (k,) int32, each one's row in the file, counted from 0
    rows_in : how many rows the file has
    set_aside : how many were not kept, by reason
    """

    columns: dict[str, np.ndarray]
    row: np.ndarray
    rows_in: int
    set_aside: dict[str, int]


def read_rows(text: io.TextIOWrapper, header: str, kinds: Mapping[str, Kind], strict: bool) -> Rows:
    """The rows behind `header`.

    Parameters
    ----------
    text : stands at the first row
    header : the first line
    kinds : what each column that is read must hold, by its name in lower case
    strict : whether a bad row is an error; otherwise it is set aside

    Raises
    ------
    InputError
        For a header without these columns, a file without a good row and, if
        strict, the first bad row: its number and line, the column, the value and
        what it must be.
    """
    judge = _Judge(spelled_names(header), _kind_of_each(header, kinds))
    for block in blocks(text, len(judge.kind)):
        judge.take(block, strict)
    if judge.rows_in == 0:
        raise InputError("the file has a header but no rows")
    if len(judge.row) == 0:
        reasons = ", ".join(f"{count} x {why}" for why, count in judge.set_aside.items())
        raise InputError(f"no row can be used: {reasons}")
    names = column_names(header)
    columns = {names[j]: column.values for j, column in judge.columns.items()}
    return Rows(columns, judge.row.values, judge.rows_in, dict(judge.set_aside))


def _kind_of_each(header: str, kinds: Mapping[str, Kind]) -> list[Kind | None]:
    names = column_names(header)
    for name in kinds:
        if names.count(name) != 1:
            raise InputError(
                f"the first line must name the column {name} once; found: {header[:200]}"
            )
    return [kinds.get(name) for name in names]


@dataclass(eq=False)
class _Judge:
    """The good rows so far, and what became of the others.

    `names` are the columns as the file spells them, `kind` what each must hold, or
    None where it is not read.
    """

    names: list[str]
    kind: list[Kind | None]
    columns: dict[int, Growing] = field(init=False)
    row: Growing = field(default_factory=lambda: Growing(np.int32))
    rows_in: int = 0
    set_aside: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.columns = {j: Growing(kind.dtype) for j, kind in enumerate(self.kind) if kind}

    def take(self, block: Block, strict: bool) -> None:
        """Sort the rows of a block into good and bad."""
        values, fault = self._faults(block)
        good = fault == GOOD
        if not good.all():
            if strict:
                raise InputError(self._complaint(block, fault))
            codes, counts = np.unique(fault[~good], return_counts=True)
            self.set_aside.update(dict(zip(map(self._reason, codes), counts.tolist(), strict=True)))
        for j, column in values.items():
            self.columns[j].append(column[good[block.whole]])
        self.row.append(self.rows_in + np.flatnonzero(good))
        self.rows_in += len(good)

    def _faults(self, block: Block) -> tuple[dict[int, np.ndarray], np.ndarray]:
        """The values of the whole rows by column, and (r,) the fault of every row."""
        values = {}
        fault_of_whole = np.full(int(block.whole.sum()), GOOD)
        for j in reversed(self.columns):  # so that the first bad column remains
            values[j], good = self.kind[j](block.columns[j])
            fault_of_whole[~good] = j
        fault = np.full(len(block.whole), RAGGED)
        fault[block.whole] = fault_of_whole
        return values, fault

    def _reason(self, code: int) -> str:
        if code == RAGGED:
            return "wrong number of fields"
        return f"{self.names[code]} is not {self.kind[code].need}"

    def _complaint(self, block: Block, fault: np.ndarray) -> str:
        """What is wrong with the block's first bad row, and where."""
        at = int(np.flatnonzero(fault != GOOD)[0])
        place = f"row {self.rows_in + at + 1} (line {block.line[at]} of the file)"
        if fault[at] == RAGGED:
            has = block.lines[at].as_py().count(",") + 1
            wanted = f"{len(self.names)}, one for each of {','.join(self.names)}"
            return f"{place}: has {has} {'field' if has == 1 else 'fields'}, must have {wanted}"
        j = fault[at]
        value = block.columns[j][at].as_py()  # all rows before it are good, so whole
        got = f"got {value[:60]!r}" if value else "it is blank"
        return f"{place}, {self.names[j]}: must be {self.kind[j].need}, {got}"
