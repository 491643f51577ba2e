"""What a view may hold, so that every page can show it and every database can keep it.

Checked wherever a view is made: of what is in view, from a file, from a row of the database. Each
check raises InputError that begins with the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import InputError
from engine.fields import LARGEST, check_text, number_in

RESERVED = ("embed", "embed_options")  # of an address, which streamlit keeps for itself


def check_settings(settings: Any) -> None:
    """Lists of texts by the names of a link's parameters."""
    _check_record("settings", settings)
    for name, values in settings.items():
        if name.lower() in RESERVED:
            raise InputError(f"settings must not hold {name}, which no link can set: take it out")
        if not isinstance(values, (list, tuple)):
            raise InputError(f"settings: {name} must be a list of texts")
        for text in values:
            # Their characters count only together.
            check_text(f"settings: each of {name}", text, float("inf"))


def check_facts(facts: Any) -> None:
    """Texts, numbers, and lists of them, by name."""
    _check_record("facts", facts)
    for name, value in facts.items():
        for member in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(member, (str, int, float)):
                _check_plain(f"facts: {name}", member)
            elif member is not None:
                raise InputError(f"facts: {name} must be a text, a number or a list of them")


def check_results(results: Any) -> None:
    """One record a policy: `policy`, `load`, and whatever numbers there are, none below 0.

    A version of more or fewer numbers may have written it. Only `gap` may be None.
    """
    if not isinstance(results, (list, tuple)):
        raise InputError("results must be a list")
    for result in results:
        _check_record("results: each", result)
        for name in ("policy", "load"):
            check_text(f"results: {name}", result.get(name))
        for name in result.keys() - {"policy", "load"}:
            if name != "gap" or result[name] is not None:
                _check_number(f"results: {name} of {result['policy']}", result[name])


def _check_record(name: str, record: Any) -> None:
    if not isinstance(record, Mapping):
        raise InputError(f"{name} must be a record")
    for key in record:
        check_text(f"{name}: each name", key)


def _check_plain(name: str, value: str | float) -> None:
    if isinstance(value, str):
        check_text(name, value)
    else:
        _check_number(name, value)


def _check_number(name: str, value: Any) -> None:
    number_in(name, value, 0, LARGEST)
