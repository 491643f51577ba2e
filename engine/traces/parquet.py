"""Parquet as rows: each column cast to text, group by group.

Texts stay coded by their dictionaries: a thousand rows that share a text of a megabyte take
one. What they would take written out is counted, and read a piece at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from engine.errors import InputError
from engine.traces.block import Block
from engine.traces.ceilings import (
    LONGEST_DOCUMENT,
    Deadline,
    check_bytes,
    check_rows,
    present,
)
from engine.traces.names import find_name
from engine.traces.objects import text_of
from engine.traces.parquet_footer import FooterColumn, read_footer

ROWS = 1 << 16
PIECE = 1 << 24  # bytes at a time; as Python's objects several times as many
MOST_GROUP = 1 << 29  # bytes of a column in a group of rows
NUMBER = 8  # bytes


@dataclass(frozen=True, eq=False)
class Parquet:
    """An open Parquet file with the columns `names`."""

    file: BinaryIO
    names: tuple[str, ...]
    broken: str = "not a row"

    def spell(self, names: Sequence[str]) -> str | None:
        """The column of one of these names, the first that is there."""
        return find_name(names, self.names)

    def blocks(self, wanted: Sequence[Sequence[str]]) -> Iterator[Block]:
        columns = [name for names in wanted if (name := self.spell(names)) is not None]
        for batch in _batches(self.file, list(dict.fromkeys(columns))):
            yield Block(
                None,
                np.ones(len(batch), bool),
                [_text(_column(batch, name)) for name in columns],
                lambda at: "is not a row",
            )


def first_rows(file: BinaryIO, most: int) -> tuple[list[str], list[dict[str, Any]]]:
    """The names of the columns, and some of the first rows; what is too large is left out."""
    with _damage():
        parquet = _opened(file)
        listed = _listed(parquet)
        columns = [leaf.path for leaf in read_footer(file) if not _is_too_large(leaf, listed)]
        batch = next(parquet.iter_batches(most, columns=columns), None)
        rows = next(_pieces(batch)).to_pylist() if batch else []
        return column_names(parquet.schema_arrow), rows


def column_names(schema: pa.Schema) -> list[str]:
    """The columns, and with a dot what stands within those that are records."""
    return [name for field in schema for name in _within(field, field.name)]


def _within(field: pa.Field, name: str) -> Iterator[str]:
    yield name
    if pa.types.is_struct(field.type):
        for inner in field.type:
            yield from _within(inner, f"{name}.{inner.name}")


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    """A column, or what stands within one."""
    if name in batch.schema.names:
        return batch.column(name)
    top = next(column for column in batch.schema.names if name.startswith(f"{column}."))
    column, rest = batch.column(top), name[len(top) + 1 :]
    while rest:
        inner = next(
            field.name
            for field in column.type
            if rest == field.name or rest.startswith(f"{field.name}.")
        )
        column, rest = pc.struct_field(column, inner), rest[len(inner) + 1 :]
    return column


def records(file: BinaryIO, columns: Sequence[str]) -> Iterator[tuple[None, dict[str, Any]]]:
    """The rows as objects, for columns that hold lists and records."""
    deadline = Deadline()
    for batch in _batches(file, columns):
        for piece in _pieces(batch):
            deadline.check()
            for row in piece.to_pylist():
                yield None, row


def _batches(file: BinaryIO, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Rows with these columns; InputError where they are beyond a ceiling."""
    deadline, unpacked = Deadline(), 0
    with _damage():
        parquet = _opened(file)
        check_rows(parquet.metadata.num_rows)
        wanted = [column for column in read_footer(file) if _is_of(column, columns)]
        _check(wanted, _listed(parquet))
        largest = max((column.a_row for column in wanted), default=1)
        rows = int(np.clip(PIECE // max(largest, 1), 1, ROWS))
        for batch in parquet.iter_batches(rows, columns=list(columns)):
            deadline.check()
            unpacked += _unpacked(batch)
            check_bytes(unpacked)
            yield batch


def _opened(file: BinaryIO) -> pq.ParquetFile:
    """The file, its texts to be read as dictionaries."""
    texts = [
        leaf.path
        for leaf in _leaves(pq.ParquetFile(file))
        if leaf.physical_type == "BYTE_ARRAY" and leaf.converted_type != "DECIMAL"
    ]
    return pq.ParquetFile(file, read_dictionary=texts)


def _leaves(parquet: pq.ParquetFile) -> Iterator[pq.ColumnSchema]:
    """The columns that hold values, within records and lists."""
    return (parquet.schema.column(number) for number in range(len(parquet.schema)))


def _listed(parquet: pq.ParquetFile) -> set[str]:
    """The paths of columns of which a row can hold several values."""
    return {leaf.path for leaf in _leaves(parquet) if leaf.max_repetition_level}


def _is_too_large(column: FooterColumn, listed: set[str]) -> bool:
    many = column.values > present().values and column.path in listed
    return many or column.bytes > min(MOST_GROUP, present().bytes)


def _check(columns: Sequence[FooterColumn], listed: set[str]) -> None:
    for column in columns:
        if _is_too_large(column, listed):
            raise InputError(
                f"the column {column.path} holds too much in one group of rows, more than "
                f"{MOST_GROUP >> 20} MB or {present().values:,} values in lists: write it in "
                "smaller groups, or leave it out"
            )


def _is_of(column: FooterColumn, names: Sequence[str]) -> bool:
    """Whether it is one of these columns, or within one."""
    return any(column.path == name or column.path.startswith(f"{name}.") for name in names)


@contextmanager
def _damage() -> Iterator[None]:
    """What the library makes of a damaged file, as a sentence."""
    try:
        yield
    except MemoryError:
        raise InputError("this is a Parquet file that takes more memory than there is") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        what = str(error).splitlines()[0][:200]
        raise InputError(f"this is a Parquet file that is damaged or cut off: {what}") from None


def _unpacked(values: pa.RecordBatch | pa.Array) -> int:
    """About the bytes that these take, each text written out."""
    if isinstance(values, pa.RecordBatch):
        return sum(map(_unpacked, values.columns))
    own = NUMBER * len(values)
    if pa.types.is_dictionary(values.type) and not pa.types.is_primitive(values.type.value_type):
        lengths = pc.binary_length(values.dictionary)
        return own + (pc.sum(lengths.take(values.indices)).as_py() or 0)
    if pa.types.is_struct(values.type):
        return own + sum(map(_unpacked, values.flatten()))
    return own + (_unpacked(values.flatten()) if pa.types.is_nested(values.type) else 0)


def _pieces(values: Any) -> Iterator[Any]:
    """A batch or an array in pieces that Python's objects can be made of."""
    size = _unpacked(values)
    if size <= PIECE or len(values) < 2:
        if size > LONGEST_DOCUMENT:
            raise InputError(
                f"a row holds more than {LONGEST_DOCUMENT // 10**6} MB: leave out long texts"
            )
        yield values
        return
    half = len(values) // 2
    yield from _pieces(values.slice(0, half))
    yield from _pieces(values.slice(half))


def _text(column: pa.Array) -> pa.StringArray:
    """A column as text; of long ones the beginning."""
    if pa.types.is_dictionary(column.type):
        words = [text_of(word) for word in column.dictionary.to_pylist()]
        column = pa.array(words, pa.string()).take(column.indices)
    try:
        text = pc.cast(column, pa.string())
    except pa.ArrowException:  # lists, records, bytes that are no text
        values = [text_of(value) for piece in _pieces(column) for value in piece.to_pylist()]
        text = pa.array(values, pa.string())
    return pc.utf8_trim_whitespace(pc.fill_null(text, ""))
