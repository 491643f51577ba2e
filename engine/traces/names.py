"""Names of columns and keys: as a file spells them, and how they are compared."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.errors import InputError


def spelled_names(header: str, delimiter: str = ",") -> list[str]:
    """The names in a header line, without spaces and quotes around them."""
    return [name.strip().strip('"').strip() for name in header.split(delimiter)]


def plain(name: str) -> str:
    """A name without case, spaces, underscores and hyphens."""
    return re.sub(r"[\s_\-]", "", name).lower()


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
