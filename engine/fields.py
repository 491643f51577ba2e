"""Fields that users fill in: numbers within a range, lists, records with known names."""

from __future__ import annotations

import dataclasses
import json
import reprlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar, cast, overload

import numpy as np

from engine.errors import InputError

MOST_QUOTED = 80  # characters of what was given, in a message
MOST_IN_A_TEXT = 2_000  # characters
LARGEST = 1e18  # number; beyond it nothing is a count, a time or a rate

T = TypeVar("T")


def number_of(text: Any) -> Any:
    """A text as the number it is, an integer where it can be; anything else as it was."""
    for kind in (int, float) if isinstance(text, str) else ():
        with suppress(TypeError, ValueError):
            return kind(text)
    return text


@overload
def number_in(name: str, value: Any, low: float, high: float, *, whole: Literal[True]) -> int: ...
@overload
def number_in(name: str, value: Any, low: float, high: float, *, whole: bool = False) -> float: ...
def number_in(name: str, value: Any, low: float, high: float, *, whole: bool = False) -> float:
    """`value` as a Python number from `low` to `high`, both included.

    Raises
    ------
    InputError
        Naming the field, what it must be and what it was.
    """
    number = isinstance(value, (int, float, np.integer, np.floating))
    in_range = number and not isinstance(value, bool) and low <= value <= high
    if not in_range or (whole and value != int(value)):
        what = "a whole number" if whole else "a number"
        raise InputError(
            f"{name} must be {what} from {_told(low)} to {_told(high)}, got {_quoted(value)}"
        )
    return int(value) if whole else float(value)


def hold_number(record: Any, name: str, low: float, high: float, *, whole: bool = False) -> None:
    """Have a frozen record hold its field as `number_in` reads it: 5 where somebody wrote 5.0."""
    number = number_in(name, getattr(record, name), low, high, whole=whole)
    object.__setattr__(record, name, number)


def _told(limit: float) -> str:
    whole = isinstance(limit, int) or limit.is_integer()
    return f"{int(limit):,}" if whole and abs(limit) < 1e15 else f"{limit:g}"


def _quoted(value: Any) -> str:
    """What was given, cut where it is long or deep."""
    plain = isinstance(value, (str, float, np.generic))
    return str(value)[:MOST_QUOTED] if plain else reprlib.repr(value)


def check_text(name: str, value: Any, most: float = MOST_IN_A_TEXT) -> None:
    """A text of at most that many characters, all of which can be shown and kept.

    PostgreSQL keeps no NUL, and half a surrogate pair has no place in UTF-8.

    Raises
    ------
    InputError
        Beginning with the name.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(
            f"{name} has NUL or half a surrogate pair in it, which cannot be kept: take it out"
        )
    if len(value) > most:
        raise InputError(f"{name} has {len(value):,} characters: shorten it to {most:,}")


def read_json(text: str, what: str, most: int) -> Any:
    """What a JSON text of at most so many characters holds.

    Raises
    ------
    InputError
        Beginning with `what`, where it cannot be read.
    """
    if len(text) > most:
        raise InputError(f"{what} is longer than {most:,} characters: shorten it")
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise InputError(f"{what} is not JSON: {problem}") from None
    except RecursionError:
        raise InputError(f"{what} is nested too deeply: it needs no lists in lists") from None
    except ValueError:  # of int, which bounds the work
        raise InputError(f"{what} holds a number of too many digits: shorten it") from None


def list_in(name: str, values: Any) -> list:
    """`values` as a list; InputError naming the field if it is none."""
    if not isinstance(values, (list, tuple, np.ndarray)):
        raise InputError(f"{name} must be a list, got {reprlib.repr(values)}")
    return list(values)


def build(kind: type[T], record: Mapping[str, Any], place: str) -> T:
    """The dataclass `kind` made from a record that a user wrote.

    Raises
    ------
    InputError
        Starting with `place`, for fields that are unknown, missing or bad.
    """
    fields = {field.name: field for field in dataclasses.fields(cast(Any, kind))}
    needed = {
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: must be a record of fields, got {reprlib.repr(record)}")
    for name in record:
        if name not in fields:
            raise InputError(
                f"{place}: unknown field {name} (it has: {', '.join(fields) or 'none'})"
            )
    for name in fields:
        if name in needed and name not in record:
            raise InputError(f"{place}: the field {name} is missing")
    try:
        return kind(**record)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
