"""JSON in its shapes, object by object: lines, one long list, objects in a row, one document.

Lists are decoded element by element, so that a file of any size takes the
memory of its largest element. Documents (benchmark results) are read whole.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from engine.errors import InputError
from engine.traces.ceilings import LONGEST_DOCUMENT, LONGEST_LINE, check_document

LINES = 1 << 20  # characters of lines read at a time
CHUNK = 1 << 20  # characters of a list read at a time
BAD = (ValueError, RecursionError)  # what the decoder raises for text that is no JSON
SPACE = " \t\r\n"
SKIPPED = re.compile(f"[{SPACE}]*")


def parsed(line: str) -> dict | None:
    """The object that a line is, or None."""
    try:
        value = json.loads(line)
    except BAD:
        return None
    return value if isinstance(value, dict) else None


def lines(text: io.TextIOWrapper) -> Iterator[tuple[int, dict | None]]:
    """Each line that is not blank, counted from 1, as its object; None where it is none."""
    number = 0
    while read := text.readlines(LINES):
        for line in read:
            number += 1
            if not line.isspace():
                yield number, parsed(line)


def from_pair(value: Any) -> Any:
    """`[prompt, output, {..}]` as an object with these names; anything else as it is."""
    is_pair = isinstance(value, list) and 2 <= len(value) <= 3
    more = value[2] if is_pair and len(value) == 3 else None
    if not is_pair or not isinstance(more, (dict, type(None))):
        return value
    return {**(more or {}), "prompt": value[0], "output": value[1]}


def document(text: io.TextIOWrapper) -> Any:
    """The whole text as one value; InputError says where it stops being JSON."""
    whole = check_document(text.read(LONGEST_DOCUMENT + 1))
    try:
        return json.loads(whole)
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is JSON that is damaged or cut off at line {error.lineno}, "
            f"column {error.colno}: {error.msg}"
        ) from None
    except BAD:
        raise InputError(
            "this is JSON that cannot be read: it is nested too deeply, or a number is too long"
        ) from None


def stream(text: io.TextIOWrapper) -> Iterator[Any]:
    """Objects one behind the other, each over any number of lines, as `jq .` prints them."""
    decoder, buffer, count, wanted = json.JSONDecoder(), "", 0, CHUNK
    while True:
        place = _skip(buffer, 0)
        try:
            value, end = decoder.raw_decode(buffer, place)
        except BAD:
            more = text.read(wanted)
            wanted *= 2  # a long object is not tried again too often
            if not more and not buffer[place:]:
                return
            buffer = buffer[place:] + more
            if not more or len(buffer) > LONGEST_LINE:
                raise InputError(_stops(count, "objects", bool(more))) from None
            continue
        while True:
            yield value
            count, wanted, place = count + 1, CHUNK, _skip(buffer, end)
            try:
                value, end = decoder.raw_decode(buffer, place)
            except BAD:
                break
        buffer = buffer[place:]


def elements(text: io.TextIOWrapper) -> Iterator[Any]:
    """The elements of a list, one by one.

    An element counts once the comma or bracket behind it was seen, so the text
    that is there is never taken for more than it is.
    """
    decoder = json.JSONDecoder()
    buffer, place, count, wanted = text.read(CHUNK).lstrip(SPACE)[1:], 0, 0, CHUNK
    while True:
        place = _skip(buffer, place)
        if buffer[place : place + 1] == "]":
            return _nothing_behind(buffer[place + 1 :], text)
        try:
            value, end = decoder.raw_decode(buffer, place)
            end = _skip(buffer, end)
        except BAD:
            end = len(buffer)
        if buffer[end : end + 1] not in (",", "]"):  # cut off, perhaps within a number
            more = text.read(wanted)
            wanted *= 2  # a long element is not tried again too often
            buffer, place = buffer[place:] + more, 0
            if not more or len(buffer) > LONGEST_LINE:
                raise InputError(_stops(count, "elements", bool(more)))
            continue
        yield value
        count, wanted, place = count + 1, CHUNK, end + (buffer[end] == ",")


def _stops(count: int, what: str, is_more: bool) -> str:
    """Why nothing can be read behind so many values."""
    long = f", or the next is longer than {LONGEST_LINE // 10**6} MB" if is_more else ""
    return f"this is JSON that is damaged or cut off after {count} {what}{long}"


def _skip(buffer: str, place: int) -> int:
    return SKIPPED.match(buffer, place).end()  # type: ignore[union-attr] # it always matches


def _nothing_behind(rest: str, text: io.TextIOWrapper) -> None:
    if rest.strip(SPACE) or text.read(CHUNK).strip(SPACE):
        raise InputError("this is JSON with something behind the end of its list")
