"""Rows of a delimited file, block by block, as columns of text.

In known logs, quotes around a field protect the delimiters and line breaks in it,
but a stray quote cannot swallow the rows behind it (quoting.py). In the canonical
CSV a line is a row, always: quotes are taken off but protect nothing. Where
semicolons part the fields, a comma in a number is its point.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.traces.block import Block
from engine.traces.names import find_name
from engine.traces.quoting import Records

BLOCK = 1 << 21  # characters read at a time; bounds what a file of any size takes
DECIMAL_COMMA = r"^([+-]?\d+),(\d+)$"
DELIMITERS = (",", ";", "\t", "|")  # the first of those equally frequent


@dataclass(frozen=True, eq=False)
class Table:
    """A delimited file whose `text` stands at its start.

    Attributes
    ----------
    names : its columns, as spelled
    quoted : whether quotes protect delimiters
    """

    text: io.TextIOWrapper
    names: tuple[str, ...]
    delimiter: str = ","
    quoted: bool = True
    broken: str = "wrong number of fields"

    @property
    def _margin(self) -> str:
        """What may stand around a line; a tab only where it parts no fields."""
        return " \r\n" if self.delimiter == "\t" else " \r\n\t"

    def spell(self, names: Sequence[str]) -> str | None:
        """The column of one of these names, the first that is there."""
        return find_name(names, self.names)

    def blocks(self, wanted: Sequence[Sequence[str]]) -> Iterator[Block]:
        """The rows, with a column for each of the alternative names wanted."""
        columns = [self.names.index(self.spell(names)) for names in wanted]
        self.text.readline()
        for read, places in self._records():
            lines = pc.utf8_trim(pa.array(read, pa.string()), self._margin)
            not_blank = pc.not_equal(lines, "").to_numpy(zero_copy_only=False)
            yield self._block(lines.filter(not_blank), places[not_blank], columns)

    def _records(self) -> Iterator[tuple[list[str], np.ndarray]]:
        """Lines of the file, those of a record joined, and the number of each one's first."""
        records = Records(self.delimiter, len(self.names), line=2)
        while read := self.text.readlines(BLOCK):
            if records.waiting or (self.quoted and any('"' in line for line in read)):
                joined, places = records.of(read, last=False)
                yield joined, np.array(places, np.int64)
            else:
                yield read, records.line + np.arange(len(read))
                records.line += len(read)
        if records.waiting:
            joined, places = records.of([], last=True)
            yield joined, np.array(places, np.int64)

    def _block(self, lines: pa.StringArray, place: np.ndarray, wanted: list[int]) -> Block:
        if self.quoted and pc.any(pc.match_substring(lines, '"')).as_py():
            whole, columns = self._with_quotes(lines, wanted)
        else:
            whole, columns = self._plain(lines, wanted)

        def complaint(at: int) -> str:
            has = lines[at].as_py().count(self.delimiter) + 1
            fields = "field" if has == 1 else "fields"
            header = self.delimiter.join(self.names)
            return f"has {has} {fields}, must have {len(self.names)}, one for each of {header}"

        return Block(place, whole, columns, complaint)

    def _plain(self, lines: pa.StringArray, wanted: list[int]):
        width = len(self.names)
        whole = pc.equal(pc.count_substring(lines, self.delimiter), width - 1)
        fields = pc.split_pattern(lines.filter(whole), self.delimiter).flatten()
        columns = [self._tidy(fields.take(np.arange(j, len(fields), width))) for j in wanted]
        return whole.to_numpy(zero_copy_only=False), columns

    def _with_quotes(self, lines: pa.StringArray, wanted: list[int]):
        rows = [self._fields(line) for line in lines.to_pylist()]
        whole = np.array([len(fields) == len(self.names) for fields in rows], bool)
        columns = [
            pa.array([row[j] for row in rows if len(row) == len(self.names)], pa.string())
            for j in wanted
        ]
        return whole, [self._tidy(column) for column in columns]

    def _fields(self, line: str) -> list[str]:
        try:
            lines = line.splitlines(keepends=True) if "\n" in line else [line]
            return next(csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True))
        except (csv.Error, StopIteration):  # a field longer than the reader takes
            return []

    def _tidy(self, column: pa.StringArray) -> pa.StringArray:
        """Without the space and quotes around a field."""
        column = pc.utf8_trim_whitespace(column)
        column = pc.replace_substring_regex(column, r'(?s)^"\s*(.*?)\s*"$', r"\1")
        if self.delimiter == ";":
            column = pc.replace_substring_regex(column, DECIMAL_COMMA, r"\1.\2")
        return column
