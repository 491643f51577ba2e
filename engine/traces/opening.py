"""The bytes of a trace: unpacks gzip, refuses what is no trace and says what it is instead."""

from __future__ import annotations

import gzip
import io
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

from engine.errors import InputError
from engine.traces.ceilings import LONGEST_LINE, Bounded, check_bytes

PEEK = 4096
MAX_HEADER = 1 << 16  # characters of the first line; more than that is no table
GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"

LOOKS = (  # (first bytes, lower case), what that is, what to do about it
    (GZIP, "a gzip file within a gzip file", "unpack it first"),
    (b"bzh", "a bzip2 file", "unpack it first"),
    (b"\xfd7zxz", "an xz file", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "unpack it first"),
    (b"pk\x03\x04", "a zip archive or a spreadsheet", "unpack it or export it as CSV"),
    (b"%pdf", "a PDF", "export the table as CSV"),
    (b"version https://git-lfs", "a Git LFS pointer, not the data", "fetch it with git lfs pull"),
    (b"<!doctype", "a web page (HTML)", "download the raw file"),
    (b"<html", "a web page (HTML)", "download the raw file"),
    (b"<?xml", "an XML document, perhaps an error page", "download the raw file"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
)


@contextmanager
def open_bytes(source: str | PathLike | BinaryIO) -> Iterator[BinaryIO]:
    """The content of a path or an open binary file (which is left open), unpacked; can seek.

    Raises
    ------
    InputError
        When there is nothing to read, it is no trace, or a gzip file turns out
        to be damaged while it is read.
    """
    try:
        if isinstance(source, (str, PathLike)):
            with _path(source) as packed, _unpacked(packed) as file:
                yield file
        else:
            with _unpacked(source) as file:
                yield file
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError("the gzip file is damaged or its end is missing: fetch it again") from None


def _path(source: str | PathLike) -> BinaryIO:
    try:
        return _seekable(Path(source).open("rb"))
    except FileNotFoundError:
        raise InputError("there is no such file") from None
    except IsADirectoryError:
        raise InputError("this is a directory, give a file") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the file cannot be opened: {why}") from None


def _seekable(file: BinaryIO) -> BinaryIO:
    """The file; what comes out of a pipe, such as `<(zcat log.gz)`, in a file without a name."""
    if file.seekable():
        return file
    spool = tempfile.TemporaryFile()  # noqa: SIM115 the caller closes it
    with file:
        while block := file.read(1 << 20):
            spool.write(block)
            check_bytes(spool.tell())
    return spool


@contextmanager
def _unpacked(packed: BinaryIO) -> Iterator[BinaryIO]:
    if not _start(packed).startswith(GZIP):
        _refuse(_start(packed))
        yield packed if is_parquet(packed) else cast(BinaryIO, Bounded(packed))
        return
    packed.seek(0)
    with gzip.GzipFile(fileobj=packed) as unpacked:
        file = cast(BinaryIO, Bounded(cast(BinaryIO, unpacked)))
        _refuse(_start(file))
        if is_parquet(file):
            raise InputError("this is a Parquet file within a gzip file: unpack it first")
        yield file


def _start(file: BinaryIO) -> bytes:
    file.seek(0)
    start = file.read(PEEK)
    file.seek(0)
    return start


def _refuse(start: bytes) -> None:
    if not start:
        raise InputError("the file is empty")
    for first, what, fix in LOOKS:
        if start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(first):
            raise InputError(f"this is {what}: {fix}")
    if b"\0" in start and not start.startswith(PARQUET):
        raise InputError("this is a binary file: give text, a CSV in UTF-8")


def is_parquet(file: BinaryIO) -> bool:
    return _start(file).startswith(PARQUET)


@contextmanager
def as_text(file: BinaryIO, longest_line: int | None = LONGEST_LINE) -> Iterator[io.TextIOWrapper]:
    """The lines of an open file from its start; the file stays open.

    A longer line than this (bytes; None: lines mean nothing) is an InputError.

    Bytes that are not UTF-8 become U+FFFD, which no field accepts, so that the
    row is named where they stand. A byte order mark is dropped; CRLF and CR end
    lines as LF does.
    """
    file.seek(0)
    if isinstance(file, Bounded):
        file.longest_line = longest_line
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace")
    try:
        yield text
    finally:
        text.detach()
