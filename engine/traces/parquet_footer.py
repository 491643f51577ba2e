"""What the footer of a Parquet file says of its columns, read by ourselves.

Arrow's own classes for it end the process where a footer is damaged (a C++ exception that nothing
catches), before anything was asked of the data. The footer is a record in Thrift's compact
protocol: fields by number, read here as dictionaries. Numbers of fields: the Parquet format.
"""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, BinaryIO

from engine.errors import InputError

MAGIC = b"PAR1"
DEEPEST = 16  # records within records
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
WHOLE = (4, 5, 6)  # integers of 16, 32 and 64 bits
DAMAGED = "this is a Parquet file that is damaged or cut off: its footer cannot be read"


@dataclass(frozen=True)
class FooterColumn:
    """A column as the file lists it, within records and lists.

    Attributes
    ----------
    path : its name, with dots before what stands within
    bytes, values : of it in the group of rows that has most; bytes unpacked
    a_row : bytes a row where there are most
    """

    path: str
    bytes: int
    values: int
    a_row: int


def read_footer(file: BinaryIO) -> list[FooterColumn]:
    """Every column of an open Parquet file.

    Raises
    ------
    InputError
        Where the footer is damaged.
    """
    try:
        return _columns(_Compact(_footer(file)).struct())
    except (IndexError, KeyError, TypeError, ValueError):
        raise InputError(DAMAGED) from None


def _footer(file: BinaryIO) -> bytes:
    end = file.seek(0, io.SEEK_END)
    file.seek(max(0, end - 8))
    tail = file.read(8)
    size = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or size > end - 12:
        raise ValueError
    file.seek(end - 8 - size)
    return file.read(size)


def _columns(footer: dict[int, Any]) -> list[FooterColumn]:
    sizes: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for group in footer.get(4, ()):
        rows = max(1, group[3])
        for chunk in group[1]:
            column = chunk[3]
            path = ".".join(part.decode() for part in column[3])
            sizes[path].append((column[6], column[5], column[6] // rows))
    return [
        FooterColumn(path, *map(max, zip(*chunks, strict=True))) for path, chunks in sizes.items()
    ]


class _Compact:
    """Thrift's compact protocol, as far as a footer uses it."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def struct(self, level: int = 0) -> dict[int, Any]:
        """A record's values by the numbers of its fields."""
        if level > DEEPEST:
            raise ValueError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, level)
        return fields

    def _value(self, kind: int, level: int) -> Any:
        if kind in WHOLE:
            return self._whole()
        if kind == STRUCT:
            return self.struct(level + 1)
        if kind in (LIST, SET):
            return self._list(level)
        size = {TRUE: 1, FALSE: 1, BYTE: 1, DOUBLE: 8}.get(kind)
        if size is None and kind != BINARY:
            raise ValueError
        return self._bytes(self._varint() if size is None else size)

    def _list(self, level: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        if size > len(self.content):  # each takes a byte at least
            raise ValueError
        return [self._value(head & 15, level) for _ in range(size)]

    def _bytes(self, size: int) -> bytes:
        if self.at + size > len(self.content):
            raise ValueError
        self.at += size
        return self.content[self.at - size : self.at]

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError

    def _whole(self) -> int:
        coded = self._varint()
        return (coded >> 1) ^ -(coded & 1)
