"""Files of earlier versions, which kept one preset each: they are moved into the database once.

They lie in the folder `hardware` of the user's own data. What cannot be read or moved stays where
it is, and is listed with the reason.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.database import NameTaken, StoredRow, StoredRows, Unreadable, first_free
from engine.errors import InputError
from engine.machine.preset import Preset
from engine.machine.preset_text import MOST_CHARACTERS, key_of, read_preset, write_preset
from engine.user_data import place

FILES = "own-*.json"


def taken_over(rows: StoredRows) -> tuple[int, list[Unreadable]]:
    """Move every file into these rows: how many came, and those that stay, with the reason."""
    moved, left = 0, []
    for path in sorted((place() / "hardware").glob(FILES)):
        try:
            moved += _move(path, rows)
        except InputError as problem:
            left.append(Unreadable(None, path.name, str(problem)))
        except FileNotFoundError:  # another process was first
            moved += 1
        except OSError as problem:
            reason = f"the file cannot be moved into the database: {problem.strerror}"
            left.append(Unreadable(None, path.name, reason))
    return moved, left


def _move(path: Path, rows: StoredRows) -> bool:
    with path.open("rb") as file:
        content = file.read(4 * MOST_CHARACTERS + 1)
    if not content:  # an earlier version has just taken the name, and is about to write
        return False
    try:
        preset = read_preset(content.decode("utf-8-sig"), path.stem)
    except UnicodeDecodeError:
        raise InputError("the file is not a text in UTF-8") from None
    row = first_free(preset.title, lambda free: _keep(_named(preset, free), rows))
    try:
        path.unlink()
    except FileNotFoundError:
        pass
    except OSError:
        if row is not None:
            rows.delete(row.id)
        raise
    return True


def _named(preset: Preset, title: str) -> Preset:
    """The first keeps the key of its file: links and commands name it."""
    return preset if title == preset.title else replace(preset, title=title, key=key_of(title))


def _keep(preset: Preset, rows: StoredRows) -> StoredRow | None:
    """The new row; None where another process has moved the same file already."""
    content = write_preset(preset)
    try:
        return rows.add(preset.key, content)
    except NameTaken:
        if any((row.name, row.content) == (preset.key, content) for row in rows.all()):
            return None
        raise
