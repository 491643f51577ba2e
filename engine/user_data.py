"""Where the user's own data live: fitted presets, saved scenarios. Nothing of it is in the project.

The folder is the one that HEADROOM_HOME names, else `headroom` where the operating system
keeps the data of programs for a user, as platformdirs knows: on Linux `~/.local/share`.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

from engine.errors import InputError

HOME = "HEADROOM_HOME"


def place() -> Path:
    """Where that folder is, or would be."""
    named = os.environ.get(HOME)
    if named:
        return Path(os.path.expanduser(named))
    try:
        return user_data_path("headroom", appauthor=False)
    except RuntimeError:  # a user without a home, as some services run: nothing can be made there
        return Path(os.devnull, "headroom")


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
