"""The first bytes of a file: refuses what is no text and says what it is instead."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from engine.errors import InputError

PEEK = 4096
MAX_HEADER = 1 << 16  # characters of the first line; more than that is no table

LOOKS = (  # (first bytes, lower case), what that is, what to do about it
    (b"\x1f\x8b", "a gzip file", "unpack it first"),
    (b"pk\x03\x04", "a zip archive or a spreadsheet", "unpack it or export it as CSV"),
    (b"par1", "a Parquet file", "export it as CSV"),
    (b"%pdf", "a PDF", "export the table as CSV"),
    (b"version https://git-lfs", "a Git LFS pointer, not the data", "fetch it with git lfs pull"),
    (b"<!doctype", "a web page (HTML)", "download the raw file"),
    (b"<html", "a web page (HTML)", "download the raw file"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
)


@contextmanager
def open_text(source: str | PathLike | BinaryIO) -> Iterator[io.TextIOWrapper]:
    """The lines of a path or an open binary file, which is left open.

    Bytes that are not UTF-8 become U+FFFD, which no field accepts, so that the
    row is named where they stand. A byte order mark is dropped; CRLF and CR end
    lines as LF does.

    Raises
    ------
    InputError
        When there is nothing to read or it is no text.
    """
    if hasattr(source, "read"):
        source.seek(0)
        text = _text(source)
        try:
            yield text
        finally:
            text.detach()
        return
    path = Path(source)
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise InputError("there is no such file") from None
    except IsADirectoryError:
        raise InputError("this is a directory, give a file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"the file cannot be opened: {error}") from None
    with file:
        yield _text(file)


def _text(file: BinaryIO) -> io.TextIOWrapper:
    start = file.read(PEEK)
    file.seek(0)
    if not start:
        raise InputError("the file is empty")
    for first, what, fix in LOOKS:
        if start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(first):
            raise InputError(f"this is {what}: {fix}")
    if b"\0" in start:
        raise InputError("this is a binary file: give text, a CSV in UTF-8")
    return io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace")


def read_header(text: io.TextIOWrapper) -> str:
    """The first line; the text then stands at the first row."""
    header = text.readline(MAX_HEADER).strip()
    if not header:
        raise InputError("the first line is blank, it must name the columns")
    if "\ufffd" in header:
        raise InputError("the first line is not UTF-8 text: save the file as UTF-8")
    return header
