"""The head of a file: its kind and its names, by which formats recognise it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any, BinaryIO

from engine.errors import InputError
from engine.traces import json_text
from engine.traces.ceilings import LONGEST_DOCUMENT, MOST_NAMES, check_document
from engine.traces.names import plain, spelled_names
from engine.traces.opening import MAX_HEADER, as_text, is_parquet
from engine.traces.parquet import first_rows
from engine.traces.quoting import Records
from engine.traces.server_facts import SIGNS, facts_of_log
from engine.traces.table import DECIMAL_COMMA, DELIMITERS

ROWS_TRIED = 200  # for names and what they hold: the first rows may be failures or blank
LINES_TRIED = 20  # for a first object, where the first lines have none
SOME = 1 << 20  # characters of JSON lines to look at
DEEPEST = 6  # levels of objects within objects
METRIC = re.compile(r"^(# (HELP|TYPE) \S|[a-zA-Z_:][\w:]*\w(\{.*\})? [-+0-9.eEInfNa]+( \d{10,})?$)")
PREFIXED = re.compile(r'^[^{]+\{"[^"]*":.*\}\s*$')
BRACKETED = re.compile(r'^\[[^][{}"]*\] *[^\s,\]]')
YAML = re.compile(r"^(---|%YAML.*|- .*|[\w.-]+:( [^,;|\t]*)?)$")


@dataclass(frozen=True)
class Head:
    """What the first bytes of a file tell.

    Attributes
    ----------
    kind : table, objects (JSON), parquet or metrics (Prometheus text)
    names : columns as the file spells them, or the keys of the first objects, with
        a dot before what stands within an object: metrics.ttft.value
    first : the first object, or each column's first value that is not blank; text
        in a table
    rows : the first rows, each flat: its values by their names
    shape : of objects: lines, list, pairs (a list of [prompt, output, {..}]), stream (one
        behind the other, over several lines) or document
    delimiter : of a table
    line : a table's first line, or the first lines of text
    """

    kind: str
    names: tuple[str, ...] = ()
    first: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()
    shape: str = ""
    delimiter: str = ","
    line: str = ""

    def has(self, *names: str) -> bool:
        """Whether all these names are there, however they are spelled."""
        return {plain(name) for name in names} <= self._plain

    @cached_property
    def _plain(self) -> set[str]:
        return {plain(name) for name in self.names}

    def values(self, name: str) -> list[Any]:
        """What the first rows hold under a name as the file spells it; blanks left out."""
        values = (row.get(name) for row in self.rows)
        return [value for value in values if value is not None and value != ""]

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
        for _ in range(MAX_HEADER):
            if not start.isspace():
                break
            start = text.read(1)
        if start == "[":
            _refuse_log(start + text.readline(MAX_HEADER), text)
    if start in ("{", "["):
        return _objects(file, start)
    with as_text(file) as text:
        return _table(text)


def _parquet(file: BinaryIO) -> Head:
    names, first = first_rows(file, ROWS_TRIED)
    _check_names(names)
    rows = [dict(paths(row)) for row in first]
    return Head("parquet", tuple(names), _first_values(rows), rows)


def _objects(file: BinaryIO, start: str) -> Head:
    with as_text(file, None if start == "[" else LONGEST_DOCUMENT) as text:
        if start == "[":
            first = list(islice(json_text.elements(text), 1))
            if first and isinstance(first[0], list):
                return head_of([json_text.from_pair(first[0])], "pairs")
        else:
            first = [json_text.parsed(check_document(text.readline()))]
            alone = not text.read(1)  # a result in one line is not parsed twice
    if start == "[":
        return head_of(first + _some(file, json_text.elements), "list")
    if first[0] is None:
        return _beyond_first_line(file)
    if alone:
        return head_of(first, "document")
    return head_of(first + _some(file, json_text.lines), "lines")


def _some(file: BinaryIO, read: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """The objects behind the first one, as many as it takes to know the names."""
    objects: list[Any] = []
    with as_text(file, None) as text:
        some = io.StringIO(text.read(SOME))
    values = islice(read(some), 1, ROWS_TRIED)
    try:
        for value in values:
            objects.append(value[1] if isinstance(value, tuple) else value)
    except InputError:  # cut off here, or damaged: reading it all will tell
        pass
    return [value for value in objects if isinstance(value, dict)]


def _beyond_first_line(file: BinaryIO) -> Head:
    """The head of JSON whose first line is no object: over several lines, or damaged lines."""
    try:
        with as_text(file, None) as text:
            several = list(islice(json_text.stream(text), 2))
        if len(several) > 1 and isinstance(several[0], dict):
            return head_of(several[:1] + _some(file, json_text.stream), "stream")
    except InputError:
        pass
    try:
        with as_text(file, None) as text:
            return head_of([json_text.document(text)], "document")
    except InputError:
        with as_text(file) as text:
            tried = islice(json_text.lines(text), LINES_TRIED)
            values = [value for _, value in tried if value is not None]
        if not values:
            raise
        return head_of(values, "lines")


def head_of(values: Sequence[Any], shape: str) -> Head:
    """The head of JSON of this shape, by its first objects."""
    if not values or not isinstance(values[0], dict):
        there = "nothing" if not values or values[0] is None else f"a {type(values[0]).__name__}"
        raise InputError(
            f"this is JSON, but where the first request should be, an object with names, "
            f"there is {there}"
        )
    objects = [value for value in values if isinstance(value, dict)]
    rows = [dict(islice(paths(value), MOST_NAMES + 1)) for value in objects]
    names = dict.fromkeys(name for row in rows for name in row)
    _check_names(names)
    return Head("objects", tuple(names), values[0], rows, shape)


def paths(value: Mapping[str, Any], above: str = "", level: int = 1) -> Iterator[tuple[str, Any]]:
    """The names of an object's values, and of those within it, with the values."""
    for key, inner in value.items():
        yield above + key, inner
        if isinstance(inner, dict) and level < DEEPEST:
            yield from paths(inner, f"{above}{key}.", level + 1)


def _table(text) -> Head:
    line = text.readline(MAX_HEADER).strip(" \r\n")
    lines = [text.readline(MAX_HEADER) for _ in range(ROWS_TRIED)]
    if METRIC.match(next((other for other in (line, *lines) if other[:1] != "#"), line)):
        return Head("metrics", line=line)
    _refuse([line, *lines], text)
    if not line.strip():
        raise InputError("the first line is blank, it must name the columns")
    if "\ufffd" in line:
        raise InputError("the first line is not UTF-8 text: save the file as UTF-8")
    delimiter = max(DELIMITERS, key=line.count)
    names = spelled_names(line, delimiter)
    _check_names(names)
    records, _ = Records(delimiter, len(names), 2).of([line for line in lines if line], last=False)
    values = [spelled_names(row.strip(" \r\n"), delimiter) for row in records]
    if delimiter == ";":
        values = [[re.sub(DECIMAL_COMMA, r"\1.\2", value) for value in row] for row in values]
    rows = [dict(zip(names, row, strict=False)) for row in values if len(row) == len(names)]
    first = _first_values(rows)
    return Head("table", tuple(names), first, rows, delimiter=delimiter, line=line)


def _check_names(names: Collection[str]) -> None:
    if len(names) > MOST_NAMES:
        raise InputError(f"it names more than {MOST_NAMES:,} columns: keep those that are needed")


def _refuse(lines: Sequence[str], text: Iterable[str]) -> None:
    """Text that is no table: a server's own log, YAML."""
    if any(map(SIGNS.search, lines)):
        said = "; ".join(facts_of_log(chain(lines, text)).sentences())
        raise InputError(
            "this is a server's own log, which holds no requests: give the log of a gateway or a "
            f"benchmark's result{'; it says: ' + said if said else ''}"
        )
    if PREFIXED.match(lines[0]):
        raise InputError(
            "this is JSON with something before the object of each line: cut that off, as with "
            "sed 's/^[^{]*//'"
        )
    written = [line.rstrip() for line in lines if line.strip() and line.lstrip()[:1] != "#"]
    if written and YAML.match(written[0]) and all(map(_is_yaml, written[:5])):
        raise InputError("this is YAML: give it as JSON, a benchmark's report as its JSON report")


def _refuse_log(line: str, text: Iterable[str]) -> None:
    """A server's log whose lines begin with something in brackets, which is no JSON."""
    if BRACKETED.match(line):
        _refuse([line, *islice(text, ROWS_TRIED)], text)


def _is_yaml(line: str) -> bool:
    return YAML.match(line.strip()) is not None


def _first_values(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Each name's first value that is not blank."""
    first: dict[str, Any] = {}
    for row in rows:
        first |= {name: value for name, value in row.items() if value and name not in first}
    return first
