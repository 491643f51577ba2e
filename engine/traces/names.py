"""Names of columns and keys: as a file spells them, and how they are compared."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress

from engine.errors import InputError


def spelled_names(header: str, delimiter: str = ",") -> list[str]:
    """The names in a header line, without spaces and quotes around them."""
    names = header.split(delimiter)
    if '"' in header:
        with suppress(csv.Error, StopIteration):  # of a stray quote
            names = next(csv.reader([header], delimiter=delimiter, skipinitialspace=True))
    return [name.strip().strip('"').strip() for name in names]


def plain(name: str) -> str:
    """A name without case, spaces, underscores and hyphens."""
    return re.sub(r"[\s_\-]", "", name).lower()


def words(name: str) -> list[str]:
    """The words of a name, lower case: inputTokenCount is input, token, count."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.lower() for word in re.split(r"[\W_]+", parts) if word]


def word_set(text: str) -> frozenset[str]:
    """The words of a text, parted by spaces."""
    return frozenset(text.split())


def endings(name: str) -> list[str]:
    """A name and what is left of it without the wrappers before it, the whole first.

    Wrappers end in a dot, a slash or a colon: response.body.usage.prompt_tokens.
    """
    starts = [0, *(match.end() for match in re.finditer(r"[./:]+", name))]
    return [name[start:] for start in starts if name[start:]] or [name]


def find_name(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    """The first of the names wanted that is among `names`, as spelled there, or None.

    Raises
    ------
    InputError
        When it is there twice.
    """
    for name in wanted:
        spellings = [spelled for spelled in names if plain(spelled) == plain(name)]
        if len(spellings) > 1:
            raise InputError(
                f"the first line must name the column {name} once; found: {','.join(names)[:200]}"
            )
        if spellings:
            return spellings[0]
    return None
