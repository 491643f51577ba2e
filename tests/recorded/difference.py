"""Where two recordings differ: the command, the place in what it said, and both values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

from tests.recorded.recording import Recording

Same = Callable[[str, str], bool]
NUMBER = re.compile(r"(-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+)")
ROUNDING = 1e-9  # relative


def to_the_byte(before: str, after: str) -> bool:
    return before == after


def but_for_rounding(before: str, after: str) -> bool:
    """Whether texts are the same but for floats that differ in their last digits."""
    mine, theirs = NUMBER.split(before), NUMBER.split(after)
    if len(mine) != len(theirs) or mine[::2] != theirs[::2]:
        return False
    pairs = zip(mine[1::2], theirs[1::2], strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=ROUNDING, abs_tol=1e-12) for a, b in pairs)


def differences(before: Recording, after: Recording, same: Same = to_the_byte) -> Iterator[str]:
    """A few lines for each command that differs, in the order of the recordings."""
    for line in dict.fromkeys([*before, *after]):
        if line not in before or line not in after:
            yield f"{line}\n  is only in {'BEFORE' if line in before else 'AFTER'}"
        elif told := _first(before[line], after[line], same):
            yield f"{line}\n{told}"


def _first(before: dict, after: dict, same: Same) -> str | None:
    """The first place where a command's doings differ; None where they do not."""
    mine, theirs = _pieces(before), _pieces(after)
    for place in dict.fromkeys([*mine, *theirs]):
        if place not in mine or place not in theirs:
            return f"  {place} is only in {'BEFORE' if place in mine else 'AFTER'}"
        if not same(mine[place], theirs[place]):
            return f"  {place}{_where(mine[place], theirs[place], same)}"
    return None


def _pieces(doings: dict) -> dict[str, str]:
    steps = doings["steps"]
    said = {
        f"{name} of step {number}" if len(steps) > 1 else name: str(step[name])
        for number, step in enumerate(steps, 1)
        for name in ("exit", "stderr", "stdout")
    }
    return said | {f"the file {name}": text for name, text in doings["files"].items()}


def _where(before: str, after: str, same: Same) -> str:
    """The path in a JSON document or the number of the line, and what stands there."""
    documents = _document(before), _document(after)
    if None not in documents:
        for path, mine, theirs in _walk(*documents, "$"):
            if not same(repr(mine), repr(theirs)):
                return f" at {path}\n    before  {mine!r}\n    after   {theirs!r}"
    lines = zip_longest(before.splitlines(keepends=True), after.splitlines(keepends=True))
    for number, (mine, theirs) in enumerate(lines, 1):
        if mine is None or theirs is None or not same(mine, theirs):
            return f" in line {number}\n    before  {mine!r}\n    after   {theirs!r}"
    raise AssertionError("texts that differ have a line that does")


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _walk(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Every place where two documents have no parts, or not the same ones, and what is there."""
    if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
        for name in before:
            yield from _walk(before[name], after[name], f"{path}.{name}")
    elif isinstance(before, dict) and isinstance(after, dict):
        yield f"{path}, its names", list(before), list(after)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from _walk(*pair, f"{path}[{number}]")
    else:
        yield path, before, after
