"""The head of a file: its kind and its names, by which formats recognise it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from engine.errors import InputError
from engine.traces import json_text
from engine.traces.names import plain, spelled_names
from engine.traces.opening import MAX_HEADER, as_text, is_parquet
from engine.traces.table import DELIMITERS

LINES_TRIED = 20  # for a first object or value, where the first lines have none
METRIC = re.compile(r"^(# (HELP|TYPE) \S|[a-zA-Z_:][\w:]*(\{[^}]*\})? [-+0-9.eEInfNa]+$)")


@dataclass(frozen=True)
class Head:
    """What the first bytes of a file tell.

    Attributes
    ----------
    kind : table, objects (JSON), parquet or metrics (Prometheus text)
    names : columns as the file spells them, or the keys of the first object, with
        a dot before what stands within an object: metrics.ttft.value
    first : the first object, or each column's first value that is not blank; text
        in a table
    shape : of objects: lines, list, pairs (a list of [prompt, output, {..}]) or document
    delimiter : of a table
    line : a table's first line
    """

    kind: str
    names: tuple[str, ...] = ()
    first: Mapping[str, Any] = field(default_factory=dict)
    shape: str = ""
    delimiter: str = ","
    line: str = ""

    def has(self, *names: str) -> bool:
        """Whether all these names are there, however they are spelled."""
        return {plain(name) for name in names} <= {plain(name) for name in self.names}

    def is_objects(self, *names: str) -> bool:
        """Whether these are JSON objects whose first has all these keys."""
        return self.kind == "objects" and self.has(*names)

    def is_table(self, *names: str) -> bool:
        """Whether this has columns of all these names, in text or in Parquet."""
        return self.kind in ("table", "parquet") and self.has(*names)


def look(file: BinaryIO) -> Head:
    """The head of an open file.

    Raises
    ------
    InputError
        When it has none: a blank first line, JSON without an object, damaged Parquet.
    """
    if is_parquet(file):
        return _parquet(file)
    with as_text(file) as text:
        start = text.read(1)
        while start.isspace():
            start = text.read(1)
    if start in ("{", "["):
        return _objects(file, start)
    with as_text(file) as text:
        return _table(text)


def _parquet(file: BinaryIO) -> Head:
    try:
        parquet = pq.ParquetFile(file)
        first = next(parquet.iter_batches(LINES_TRIED), None)
    except (pa.ArrowException, OSError) as error:
        what = str(error).splitlines()[0][:200]
        raise InputError(f"this is a Parquet file that is damaged or cut off: {what}") from None
    values = _first_values(first.to_pylist() if first else [])
    return Head("parquet", tuple(parquet.schema_arrow.names), values)


def _objects(file: BinaryIO, start: str) -> Head:
    with as_text(file) as text:
        if start == "[":
            first = next(json_text.elements(text), None)
            if isinstance(first, list):
                return _head_of(json_text.from_pair(first), "pairs")
            return _head_of(first, "list")
        first = json_text.parsed(text.readline())
        alone = not text.read(1)  # a result in one line is not parsed twice
    if first is not None:
        return _head_of(first, "document" if alone else "lines")
    return _head_of(*_beyond_first_line(file))


def _beyond_first_line(file: BinaryIO) -> tuple[Any, str]:
    """The first object of JSON whose first line is none: one document, or damaged lines."""
    try:
        with as_text(file) as text:
            return json_text.document(text), "document"
    except InputError:
        with as_text(file) as text:
            tried = islice(json_text.lines(text), LINES_TRIED)
            first = next((value for _, value in tried if value is not None), None)
        if first is None:
            raise
        return first, "lines"


def _head_of(first: Any, shape: str) -> Head:
    if not isinstance(first, dict):
        there = "nothing" if first is None else f"a {type(first).__name__}"
        raise InputError(
            f"this is JSON, but where the first request should be, an object with names, "
            f"there is {there}"
        )
    return Head("objects", tuple(paths(first)), first, shape)


def paths(value: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The names of an object's values, and of those within it three levels down."""
    for key, inner in value.items():
        yield above + key
        if isinstance(inner, dict) and above.count(".") < 3:
            yield from paths(inner, f"{above}{key}.")


def _table(text) -> Head:
    line = text.readline(MAX_HEADER).strip(" \r\n")
    if METRIC.match(line):
        return Head("metrics", line=line)
    if not line.strip():
        raise InputError("the first line is blank, it must name the columns")
    if "\ufffd" in line:
        raise InputError("the first line is not UTF-8 text: save the file as UTF-8")
    delimiter = max(DELIMITERS, key=line.count)
    names = spelled_names(line, delimiter)
    rows = [spelled_names(row, delimiter) for row in islice(text, LINES_TRIED)]
    first = _first_values(dict(zip(names, row, strict=False)) for row in rows)
    return Head("table", tuple(names), first, delimiter=delimiter, line=line)


def _first_values(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Each name's first value that is not blank."""
    first: dict[str, Any] = {}
    for row in rows:
        first |= {name: value for name, value in row.items() if value and name not in first}
    return first
