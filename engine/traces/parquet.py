"""Parquet as rows: each column cast to text, group by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from engine.errors import InputError
from engine.traces.block import Block
from engine.traces.names import find_name
from engine.traces.objects import text_of

ROWS = 1 << 16


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
    for batch in _batches(file, columns):
        for row in batch.to_pylist():
            yield None, row


def _batches(file: BinaryIO, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    try:
        yield from pq.ParquetFile(file).iter_batches(ROWS, columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        what = str(error).splitlines()[0][:200]
        raise InputError(f"this is a Parquet file that is damaged or cut off: {what}") from None


def _text(column: pa.Array) -> pa.StringArray:
    try:
        text = pc.cast(column, pa.string())
    except pa.ArrowException:  # lists, records, bytes that are no text
        text = pa.array([text_of(value) for value in column.to_pylist()], pa.string())
    return pc.utf8_trim_whitespace(pc.fill_null(text, ""))
