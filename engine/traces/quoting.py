"""Lines of a delimited file as records: a line break within quotes parts no rows (RFC 4180).

A quote that nothing closes, or behind which the fields do not come out right, is a stray
one: its line is a record of its own, and the lines behind it are, too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LONGEST = 1 << 20  # characters of a record; a quote that is open for longer is a stray one


@dataclass(eq=False)
class Records:
    """Lines joined to records, block by block; what is unfinished waits for the next block.

    Attributes
    ----------
    fields : how many a record has
    line : of the file, counted from 1, that comes next
    """

    delimiter: str
    fields: int
    line: int
    waiting: list[str] = field(default_factory=list)

    def of(self, lines: Sequence[str], *, last: bool) -> tuple[list[str], list[int]]:
        """The records that end in these lines, and each one's first line; `last`: none follow."""
        lines = [*self.waiting, *lines]
        self.waiting = []
        records, places, at = [], [], 0
        while at < len(lines):
            size = self._size(lines, at, last) if lines[at].count('"') % 2 else 1
            if not size:
                self.waiting = lines[at:]
                break
            records.append("".join(lines[at : at + size]))
            places.append(self.line + at)
            at += size
        self.line += at
        return records, places

    def _size(self, lines: Sequence[str], at: int, last: bool) -> int:
        """How many lines the record takes that begins with an open quote; 0: not known yet."""
        taken = 0
        is_open = False
        for end in range(at, len(lines)):
            taken += len(lines[end])
            if taken > LONGEST:
                return 1
            is_open ^= lines[end].count('"') % 2 == 1
            if not is_open:
                return end + 1 - at if self._is_record("".join(lines[at : end + 1])) else 1
        return 1 if last else 0

    def _is_record(self, text: str) -> bool:
        rows = self._rows(text)
        return rows is not None and len(rows) == 1 and len(rows[0]) == self.fields

    def _rows(self, text: str) -> list[list[str]] | None:
        lines: Iterator[str] = iter(text.splitlines(keepends=True))
        try:
            return list(csv.reader(lines, delimiter=self.delimiter, strict=True))
        except csv.Error:
            return None
