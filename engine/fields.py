"""Fields that users fill in: numbers within a range, lists, records with known names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar, overload

import numpy as np

from engine.errors import InputError

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
        raise InputError(f"{name} must be {what} from {_told(low)} to {_told(high)}, got {value}")
    return int(value) if whole else float(value)


def _told(limit: float) -> str:
    whole = isinstance(limit, int) or limit.is_integer()
    return f"{int(limit):,}" if whole and abs(limit) < 1e15 else f"{limit:g}"


def list_in(name: str, values: Any) -> list:
    """`values` as a list; InputError naming the field if it is none."""
    if not isinstance(values, (list, tuple, np.ndarray)):
        raise InputError(f"{name} must be a list, got {values!r}")
    return list(values)


def build(kind: type[T], record: Mapping[str, Any], place: str) -> T:
    """The dataclass `kind` made from a record that a user wrote.

    Raises
    ------
    InputError
        Starting with `place`, for fields that are unknown, missing or bad.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)}
    needed = {
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: must be a record of fields, got {record!r}")
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
