"""How much a file may ask for: bytes once unpacked, a line, values, rows, seconds.

A few kilobytes of gzip or Parquet can stand for gigabytes. Each ceiling is above every public
trace, and refuses what is beyond it with one sentence, before it is in memory. A server for
strangers lowers some of them while it reads.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import BinaryIO

from engine.errors import InputError

MOST_BYTES = 2_000_000_000  # of text, unpacked
LONGEST_LINE = 16_000_000  # bytes; of an element of a long JSON list, characters
LONGEST_DOCUMENT = 128_000_000  # characters of JSON that is read whole; bytes of a Parquet row
MOST_VALUES = 8_000_000  # in such a document, or of lists in a group of Parquet's rows
MOST_NAMES = 5_000  # of columns and keys
MOST_ROWS = 30_000_000
MOST_SECONDS = 40.0


@dataclass(frozen=True)
class Ceilings:
    """Those that can be lowered.

    Attributes
    ----------
    bytes : of text, unpacked
    rows : of a trace
    seconds : of reading
    values : in a JSON document that is read whole, or of lists in a group of Parquet's rows
    advice : what to do about a file that is beyond them
    """

    bytes: int
    rows: int
    seconds: float
    values: int
    advice: str = "give a part of it"


_LOWERED: ContextVar[Ceilings | None] = ContextVar("lowered ceilings", default=None)


@contextmanager
def lowered(ceilings: Ceilings | None) -> Iterator[None]:
    """Read with these in place of the usual ones; None leaves those."""
    before = _LOWERED.set(ceilings)
    try:
        yield
    finally:
        _LOWERED.reset(before)


def present() -> Ceilings:
    """Those that hold here and now."""
    return _LOWERED.get() or Ceilings(MOST_BYTES, MOST_ROWS, MOST_SECONDS, MOST_VALUES)


class Deadline:
    """The time that reading may take, from now on."""

    def __init__(self) -> None:
        self.begun = time.monotonic()

    def check(self) -> None:
        """InputError where it is over."""
        most = present()
        if time.monotonic() - self.begun > most.seconds:
            raise InputError(f"reading it takes longer than {most.seconds:g} s: {most.advice}")


class Bounded(io.BufferedIOBase):
    """An open file, read up to its ceilings; closing it leaves the file open.

    Attributes
    ----------
    longest_line : bytes; None where lines mean nothing
    """

    def __init__(self, file: BinaryIO) -> None:
        self.longest_line: int | None = None
        self._file, self._deadline, self._line = file, Deadline(), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._line = 0
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int | None = -1) -> bytes:
        most = present().bytes + 1 if size is None or size < 0 else size
        return self._checked(self._file.read(most))

    def read1(self, size: int = -1) -> bytes:
        return self.read(io.DEFAULT_BUFFER_SIZE if size < 0 else size)

    def _checked(self, content: bytes) -> bytes:
        self._deadline.check()
        check_bytes(self._file.tell())
        if self.longest_line is not None:
            self._check_line(content, self.longest_line)
        return content

    def _check_line(self, content: bytes, longest: int) -> None:
        last = max(content.rfind(b"\n"), content.rfind(b"\r"))
        self._line = self._line + len(content) if last < 0 else len(content) - last - 1
        if self._line > longest:
            raise InputError(
                f"a line is longer than {longest // 10**6} MB: leave out long texts, or see "
                "whether its line ends are missing"
            )


def check_bytes(unpacked: int) -> None:
    """InputError for more than a file may unpack to."""
    most = present()
    if unpacked > most.bytes:
        raise InputError(f"it holds more than {most.bytes / 1e9:g} GB, unpacked: {most.advice}")


def check_rows(rows: int) -> None:
    """InputError for more than a trace can have."""
    most = present()
    if rows > most.rows:
        raise InputError(f"it has more than {most.rows:,} rows: {most.advice}")


def check_document(text: str) -> str:
    """A JSON text that can be read whole; InputError where that takes too much memory."""
    if len(text) > LONGEST_DOCUMENT:
        raise InputError(
            f"this is JSON that is one value of more than {LONGEST_DOCUMENT // 10**6} MB: give a "
            "part of it, or an object a line"
        )
    most = present().values
    if len(text) > most and sum(map(text.count, ",[{")) > most:
        raise InputError(
            f"this is JSON that is one value of more than {most:,} parts: give a part of "
            "it, or an object a line"
        )
    return text
