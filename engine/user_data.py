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


def folder() -> Path:
    """The folder of the user's own data, made if it is not there.

    Raises
    ------
    InputError
        Where it cannot be made.
    """
    named = os.environ.get(HOME)
    place = Path(named).expanduser() if named else _of_programs() / "headroom"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"your own data cannot be kept in {place}: {problem.strerror}; "
            f"set {HOME} to a folder that can be written"
        ) from None
    return place


def _of_programs() -> Path:
    """Where this operating system keeps the data of programs for a user."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
