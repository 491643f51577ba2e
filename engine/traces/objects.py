"""JSON objects as rows: every value becomes the text that the kinds of columns read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.traces.block import Block

ROWS = 1 << 14  # made into columns at a time
LONGEST_OBJECT = 100  # characters of an object or a list, which a column cannot be
LONGEST_VALUE = 1000  # characters of a text that may be a number, a date or a name

Numbered = tuple[int | None, Any]  # a line of the file, if it has lines, and what is there


@dataclass(frozen=True, eq=False)
class Objects:
    """Rows from JSON objects, one after the other.

    Attributes
    ----------
    rows : each with its line of the file, if it has lines
    names : the paths that the first object has
    rows_of : the rows within an object; None where it is one row
    """

    rows: Iterable[Numbered]
    names: tuple[str, ...]
    rows_of: Callable[[Any], Iterable[Any]] | None = None
    broken: str = "not a JSON object"

    def spell(self, names: Sequence[str]) -> str:
        """The path that the first object has; objects behind it may have another."""
        return next((name for name in names if name in self.names), names[0])

    def blocks(self, wanted: Sequence[Sequence[str]]) -> Iterator[Block]:
        paths = [[name.split(".") for name in names] for names in wanted]
        rows = self._rows()
        while chunk := [(line, _texts(value, paths)) for line, value in islice(rows, ROWS)]:
            texts = [row for _, row in chunk if row is not None]
            place = None
            if chunk[0][0] is not None:
                place = np.array([line for line, _ in chunk])
            yield Block(
                place,
                np.array([row is not None for _, row in chunk], bool),
                [_column([row[at] for row in texts]) for at in range(len(paths))],
                lambda at: "is not a JSON object",
            )

    def _rows(self) -> Iterator[Numbered]:
        for line, value in self.rows:
            if self.rows_of is None or not isinstance(value, dict):
                yield line, value
            else:
                for row in self.rows_of(value):
                    yield line, row


def value_at(record: Any, path: Sequence[str]) -> Any:
    """What stands at a path of keys, or None. Keys may themselves contain dots."""
    if not isinstance(record, Mapping):
        return None
    if len(path) == 1:
        return record.get(path[0])
    for size in range(1, len(path)):
        inner = record.get(path[0] if size == 1 else ".".join(path[:size]))
        if isinstance(inner, Mapping) and (value := value_at(inner, path[size:])) is not None:
            return value
    return record.get(".".join(path))


def text_of(value: Any) -> str:
    """A value as a column's text: nothing for null, floats in full, of long texts the beginning."""
    if type(value) in (int, float):  # nearly always; str of a float is exact
        return str(value)
    if isinstance(value, str):
        return value[:LONGEST_VALUE]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _start_of_json(value) if isinstance(value, (dict, list)) else str(value)


def _start_of_json(value: Any) -> str:
    """The first characters of a value as JSON, without writing out the rest."""
    written = ""
    for part in json.JSONEncoder().iterencode(value):
        written += part
        if len(written) >= LONGEST_OBJECT:
            break
    return written[:LONGEST_OBJECT]


def _texts(value: Any, paths: Sequence[list[list[str]]]) -> list[str] | None:
    """A row's text in each column, so that the rest of it can go; None where it is no object."""
    if not isinstance(value, dict):
        return None
    return [_first_text(value, alternatives) for alternatives in paths]


def _column(texts: Sequence[str]) -> pa.StringArray:
    try:
        column = pa.array(texts, pa.string())
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can escape
        column = pa.array([text.encode("utf-8", "replace") for text in texts]).cast(pa.string())
    return pc.utf8_trim_whitespace(column)


def _first_text(record: Mapping, alternatives: list[list[str]]) -> str:
    for path in alternatives:
        value = value_at(record, path)
        if value is not None:
            return text_of(value)
    return ""
