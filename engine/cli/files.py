"""Files that the user names for results: checked before any work, written after it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from engine.errors import InputError


def check_output(option: str, path: str | None, inputs: Sequence[str] = ()) -> None:
    """See that results can be written to `path`; None: none are.

    Parameters
    ----------
    option : what asked for it, such as --per-request
    inputs : files that must not be overwritten

    Raises
    ------
    InputError
        When nothing can be written there, or only over an input.
    """
    if path is None:
        return
    if not path:
        raise InputError(f"{option} needs the name of a file")
    for source in inputs:
        if _is_same(path, source):
            raise InputError(f"{option} would overwrite {source}: name another file")
    folder = Path(path).parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}")
    if Path(path).is_dir():
        raise InputError(f"cannot write {path}: this is a folder, name a file")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise InputError(f"cannot write {path}: permission denied")


def _is_same(path: str, source: str) -> bool:
    try:
        return os.path.samefile(path, source)
    except (OSError, ValueError):  # one of them does not exist
        return False


def read_text(path: str, most: int) -> str:
    """What a file that the user named holds, in UTF-8.

    Raises
    ------
    InputError
        Where it cannot be read, or has more than `most` bytes, as a device has that never ends.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)
        text = content.decode() if len(content) <= most else None
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot read {path}: {problem}") from None
    if text is None:
        raise InputError(f"{path} is longer than {most // 1_000_000} MB")
    return text


def write_text(path: str, text: str) -> None:
    """Write a file that the user named; InputError where that is not possible."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"cannot write {path}: {problem.strerror}") from problem
