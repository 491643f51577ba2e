"""An opened file with its head: what a format gets to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from engine.traces import json_text, parquet
from engine.traces.block import Source
from engine.traces.ceilings import LONGEST_LINE
from engine.traces.head import Head
from engine.traces.objects import Numbered, Objects
from engine.traces.opening import as_text
from engine.traces.parquet import Parquet
from engine.traces.table import Table


@dataclass(eq=False)
class Opened:
    """A file, its head, and the ways to take it apart.

    Attributes
    ----------
    file : its bytes, unpacked; can seek
    stack : closes what was opened to read it
    """

    file: BinaryIO
    head: Head
    stack: ExitStack = field(default_factory=ExitStack)

    def text(self, longest_line: int | None = LONGEST_LINE):
        """Its lines, from the start."""
        return self.stack.enter_context(as_text(self.file, longest_line))

    def table(self, *, quoted: bool = True) -> Table:
        return Table(self.text(), self.head.names, self.head.delimiter, quoted)

    def rows(
        self,
        rows_of: Callable[[Any], Iterable[Any]] | None = None,
        names: tuple[str, ...] | None = None,
    ) -> Source:
        """Its rows, whatever its kind.

        Parameters
        ----------
        rows_of : gives the rows within a JSON object
        names : of a row's values, where they are not the head's
        """
        if self.head.kind == "parquet":
            return Parquet(self.file, self.head.names)
        if self.head.kind == "objects":
            return Objects(self.objects(), names or self.head.names, rows_of)
        return self.table()

    def objects(self, columns: Sequence[str] = ()) -> Iterator[Numbered]:
        """Its JSON objects, or the rows of Parquet as such with these columns."""
        if self.head.kind == "parquet":
            return parquet.records(self.file, columns)
        if self.head.shape == "document":
            return iter([(None, self.head.first)])
        if self.head.shape == "list":
            return ((None, value) for value in json_text.elements(self.text(None)))
        if self.head.shape == "stream":
            return ((None, value) for value in json_text.stream(self.text(None)))
        if self.head.shape == "pairs":
            pairs = json_text.elements(self.text(None))
            return ((None, json_text.from_pair(value)) for value in pairs)
        return json_text.lines(self.text())
