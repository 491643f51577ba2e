"""Columns of a file added up: `input_tokens + cached_tokens` as one column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.traces.block import Block, Source
from engine.traces.columns import WHOLE

PLUS = "+"


@dataclass(frozen=True, eq=False)
class Sums:
    """A source whose columns may be asked for as sums of several, `a+b`.

    A blank summand is 0; a sum of blanks is blank; one with something else than whole numbers
    is that.
    """

    source: Source

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def broken(self) -> str:
        return self.source.broken

    def spell(self, names: Sequence[str]) -> str | None:
        return names[0] if self._size(names) > 1 else self.source.spell(names)

    def blocks(self, wanted: Sequence[Sequence[str]]) -> Iterator[Block]:
        asked: list[list[str]] = []
        columns_of = []
        for names in wanted:
            parts = [self._summand(names, number) for number in range(self._size(names))]
            columns_of.append(range(len(asked), len(asked) + len(parts)))
            asked += parts
        for block in self.source.blocks(asked):
            columns = [_sum([block.columns[at] for at in places]) for places in columns_of]
            yield replace(block, columns=columns)

    def _size(self, names: Sequence[str]) -> int:
        return max(len(summands(name, self.names)) for name in names)

    def _summand(self, names: Sequence[str], number: int) -> list[str]:
        """The number-th summand of each alternative that has as many."""
        parts = [summands(name, self.names) for name in names]
        return [part[number] for part in parts if number < len(part)]


def summands(name: str, names: Sequence[str]) -> list[str]:
    """The columns that a name adds up; a plus may stand in the name of one."""
    return [name] if name in names else [part.strip() for part in name.split(PLUS)]


def _sum(columns: Sequence[pa.StringArray]) -> pa.StringArray:
    if len(columns) == 1:
        return columns[0]
    total = np.zeros(len(columns[0]), np.int64)
    some, bad = np.zeros(len(total), bool), np.zeros(len(total), bool)
    first_bad = pa.array([""] * len(total), pa.string())
    for column in columns:
        good = pc.match_substring_regex(column, WHOLE)
        whole = pc.replace_substring_regex(pc.if_else(good, column, "0"), r"\..*$", "")
        is_good = good.to_numpy(zero_copy_only=False)
        blank = pc.equal(column, "").to_numpy(zero_copy_only=False)
        total += pc.cast(whole, pa.int64()).to_numpy()
        some |= is_good
        new = ~is_good & ~blank & ~bad
        first_bad = pc.if_else(pa.array(new), column, first_bad)
        bad |= new
    text = pc.if_else(pa.array(some), pc.cast(pa.array(total), pa.string()), "")
    return pc.if_else(pa.array(bad), first_bad, text)
