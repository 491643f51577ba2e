"""Presets of the user's own: named, kept in the database, offered beside the project's.

A team that shares a database shares them. A preset's key follows from its title, and two that
are saved under one title end up with two presets.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import InputError
from engine.machine.preset import Preset
from engine.machine.preset_text import check_preset, key_of, read_preset, write_preset

if TYPE_CHECKING:
    from engine.database import StoredRow, StoredRows, Unreadable

LONGEST_TITLE = 50  # characters


def own_presets() -> dict[str, Preset]:
    """The user's presets that can be read, by key; none where the database does not answer."""
    try:
        return listed()[0]
    except InputError:
        return {}


def unreadable() -> list[str]:
    """What is wrong with those that cannot be read, a sentence each."""
    try:
        return [f"{odd.name}: {odd.reason}" for odd in listed()[1]]
    except InputError as problem:
        return [f"presets of your own cannot be read: {problem}"]


def listed() -> tuple[dict[str, Preset], list[Unreadable]]:
    """The user's presets by key, and what holds none: rows, and files of earlier versions.

    Raises
    ------
    InputError
        Where the database does not answer. It is not asked again for a moment then: every page
        lists presets in passing.
    """
    from engine.machine.preset_files import taken_over  # which imports the database

    rows = _rows(in_passing=True)
    presets, odd = rows.listed(_read)
    moved, left = (0, []) if rows.are_private else taken_over(rows)
    if moved:
        presets, odd = rows.listed(_read)
    by_key = {preset.key: preset for preset in presets}
    return dict(sorted(by_key.items())), odd + left


def save(preset: Preset) -> Preset:
    """Keep a preset under its title, or under `title (2)` and so on where that is taken.

    Returns
    -------
    The preset with the key and the title that it got.

    Raises
    ------
    InputError
        For a title that is none or what cannot be kept, or where the database does not answer.
    """
    from engine.database import first_free  # slow to import

    title = _checked_title(preset.title)
    check_preset(preset)
    rows = _rows()

    def keep(free: str) -> Preset:
        named = _named(preset, free)
        rows.add(named.key, write_preset(named))
        return named

    return first_free(title, keep)


def rename(key: str, title: str) -> Preset:
    """Give the user's preset another title, and with it another key; as `save` does.

    Raises
    ------
    InputError
        Where there is no such preset, or as `save` does.
    """
    from engine.database import first_free  # slow to import

    title = _checked_title(title)
    rows = _rows()
    row = _find(rows, key)
    preset = _read(row)

    def keep(free: str) -> Preset:
        named = _named(preset, free)
        rows.change(row.id, named.key, write_preset(named))
        return named

    return first_free(title, keep)


def delete(key: str) -> None:
    """Remove the user's preset, also one that cannot be read; InputError where there is none."""
    rows = _rows()
    rows.delete(_find(rows, key).id)


def delete_row(id: int) -> None:
    """Remove what `listed` could not read; nothing where it is gone already."""
    _rows().delete(id)


def _rows(in_passing: bool = False) -> StoredRows:
    from engine.database import StoredRows, connected  # slow to import, and most commands need none

    database = connected()
    if in_passing and database.silence:
        raise InputError(database.silence)
    return StoredRows(database, "preset")


def _read(row: StoredRow) -> Preset:
    return read_preset(row.content, row.name)


def _find(rows: StoredRows, key: str) -> StoredRow:
    kept = {row.name: row for row in rows.all()}
    if key not in kept:
        known = f"yours are {', '.join(sorted(kept))}" if kept else "you have none"
        raise InputError(f"there is no preset of yours with the key {key}: {known}")
    return kept[key]


def _named(preset: Preset, title: str) -> Preset:
    return replace(preset, key=key_of(title), title=title)


def _checked_title(title: str) -> str:
    title = " ".join(unicodedata.normalize("NFKC", title).split())
    if not re.search(r"[^\W_]", title) or not title.isprintable():
        raise InputError("a preset needs a name with a letter or digit in it")
    if len(title) > LONGEST_TITLE:
        raise InputError(f"the name of a preset must be at most {LONGEST_TITLE} characters long")
    return title
