"""Presets of the user's own: named, kept in the user's folder, offered beside the project's.

One JSON file a preset, in the folder `hardware` of the user's own data. A name is taken by
creating its file, which the operating system lets only one of several sessions do; so two
that save under one name end up with two presets, and nothing is lost. The content is then
moved there in one step, so nobody reads half of it.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import unicodedata
from dataclasses import replace
from itertools import count
from pathlib import Path

from engine.errors import InputError
from engine.machine.catalogue import gpus, models
from engine.machine.preset import Preset, preset_of, record_of
from engine.sample_data import files_by_key, read_record
from engine.user_data import folder, place

PREFIX = "own-"  # of their keys, which those of the project's presets never have
MOST_PARALLEL = 1024  # GPUs a model is cut over
LONGEST_TITLE = 50  # characters, so that every file system takes the file's name


def own_presets() -> dict[str, Preset]:
    """The user's presets that can be read, by key; none where there is no folder for them."""
    return _read()[0]


def unreadable() -> list[str]:
    """What is wrong with the files that hold no preset, a sentence each."""
    return _read()[1]


def save(preset: Preset) -> Preset:
    """Keep a preset under its title, or under `title (2)` and so on where that is taken.

    Returns
    -------
    The preset with the key and the title that it got.

    Raises
    ------
    InputError
        For a title that is none, or where the folder cannot be written.
    """
    title = _checked_title(preset.title)
    for number in count(1):
        named = title if number == 1 else f"{title} ({number})"
        kept = replace(preset, key=_key(named), title=named)
        if _take(kept.key):
            try:
                _write(kept)
            except InputError:
                _path(kept.key).unlink(missing_ok=True)
                raise
            return kept
    raise AssertionError("some number is free")


def rename(key: str, title: str) -> Preset:
    """Give the user's preset another title, and with it another key; as `save` does.

    Raises
    ------
    InputError
        Where there is no such preset, or as `save` does.
    """
    renamed = replace(_find(key), title=_checked_title(title))
    if _key(renamed.title) == key:
        _write(renamed)
        return renamed
    renamed = save(renamed)
    delete(key)
    return renamed


def delete(key: str) -> None:
    """Remove the user's preset; InputError where there is none of this key."""
    _find(key)
    try:
        _path(key).unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(f"the preset {key} cannot be deleted: {problem.strerror}") from None


def is_own(key: str) -> bool:
    """Whether a key is that of a preset of some user's own, here or elsewhere."""
    return key.startswith(PREFIX)


def _read() -> tuple[dict[str, Preset], list[str]]:
    found, problems = {}, []
    for key, path in files_by_key(_place()).items():
        try:
            if is_own(key) and path.stat().st_size:  # else another session is at it
                found[key] = _preset(key, path)
        except InputError as problem:
            problems.append(str(problem))
        except FileNotFoundError:  # deleted meanwhile
            continue
    return found, problems


def _preset(key: str, path: Path) -> Preset:
    record = read_record(path)
    try:
        preset = preset_of({**record, "key": key})
        f"{preset.title} {preset.fit}".encode()  # fails for half a surrogate pair
    except InputError as problem:
        raise InputError(f"{path.name}: {problem}") from None
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise InputError(f"{path.name}: this is no preset: {problem}") from None
    if not all(isinstance(text, str) for text in (preset.title, preset.fit)):
        raise InputError(f"{path.name}: this is no preset: its title and fit must be texts")
    if not (_is_known(preset) and 1 <= preset.tensor_parallel <= MOST_PARALLEL):
        raise InputError(
            f"{path.name}: this is no preset: its model, gpu or tensor_parallel is not known"
        )
    return preset


def _is_known(preset: Preset) -> bool:
    """Whether model and GPU are, where they are named."""
    return preset.model in ("", *models()) and preset.gpu in ("", *gpus())


def _find(key: str) -> Preset:
    mine = own_presets()
    if key not in mine:
        known = f"yours are {', '.join(mine)}" if mine else "you have none"
        raise InputError(f"there is no preset of yours with the key {key}: {known}")
    return mine[key]


def _checked_title(title: str) -> str:
    title = " ".join(unicodedata.normalize("NFKC", title).split())
    if not re.search(r"[^\W_]", title) or not title.isprintable():
        raise InputError("a preset needs a name with a letter or digit in it")
    if len(title) > LONGEST_TITLE:
        raise InputError(f"the name of a preset must be at most {LONGEST_TITLE} characters long")
    return title


def _key(title: str) -> str:
    return PREFIX + re.sub(r"[\W_]+", "-", title.casefold()).strip("-")


def _place() -> Path:
    return place() / "hardware"


def _path(key: str) -> Path:
    return _place() / f"{key}.json"


def _take(key: str) -> bool:
    """Create the file of a key, empty; False where it is there."""
    path = _path(key)
    folder()
    try:
        path.parent.mkdir(exist_ok=True)
        path.open("x").close()
    except OSError as problem:
        if path.exists():
            return False
        raise InputError(f"presets cannot be kept in {_place()}: {problem.strerror}") from None
    return True


def _write(preset: Preset) -> None:
    """Put a preset into its file, in one step."""
    text = json.dumps(record_of(preset), indent=1, ensure_ascii=False)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=_place(), suffix=".new", delete=False
        ) as file:
            file.write(text)
        os.replace(file.name, _path(preset.key))
    except OSError as problem:
        raise InputError(f"presets cannot be kept in {_place()}: {problem.strerror}") from None
