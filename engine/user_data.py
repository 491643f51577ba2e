"""Where the user's own data live: fitted presets, saved scenarios. Nothing of it is in the project.

The folder is the one that HEADROOM_HOME names, else `headroom` where the operating system
keeps the data of programs for a user: `$XDG_DATA_HOME` (usually `~/.local/share`) on Linux,
`~/Library/Application Support` on macOS, `%LOCALAPPDATA%` on Windows.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from engine.errors import InputError

HOME = "HEADROOM_HOME"


def place() -> Path:
    """Where that folder is, or would be."""
    named = os.environ.get(HOME)
    return Path(os.path.expanduser(named)) if named else _of_programs() / "headroom"


def folder() -> Path:
    """The folder of the user's own data, made if it is not there.

    Raises
    ------
    InputError
        Where it cannot be made.
    """
    where = place()
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"your own data cannot be kept in {where}: {problem.strerror}; "
            f"set {HOME} to a folder that can be written"
        ) from None
    return where


def _of_programs() -> Path:
    """Where this operating system keeps the data of programs for a user."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or _home() / ".local" / "share")


def _home() -> Path:
    """The user's home; for one without, as some services run, a place that cannot be made."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)
