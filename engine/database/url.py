"""Which database: the one whose URL is set, else a SQLite file among the user's own data."""

from __future__ import annotations

import os
import re
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from engine.errors import InputError
from engine.user_data import place

DATABASE = "HEADROOM_DATABASE"  # the environment variable that holds a URL
POSTGRESQL = "postgresql+psycopg"
DRIVERS = {"sqlite": "sqlite", "postgres": POSTGRESQL, "postgresql": POSTGRESQL}
FORM = (
    "the URL of the database must look like postgresql://user:password@host/name "
    "or sqlite:///folder/file.db"
)


def database_url(chosen: str | None = None) -> str:
    """The URL that is chosen or set, else of a SQLite file among the user's own data.

    Raises
    ------
    InputError
        For what is no URL of a database that can be used; nothing of it is told.
    """
    named = chosen or os.environ.get(DATABASE)
    if not named:
        return f"sqlite:///{place() / 'saved.db'}"
    try:
        url = sa.make_url(_with_password_quoted(named))
    except (SQLAlchemyError, ValueError, TypeError):
        raise InputError(FORM) from None
    driver = DRIVERS.get(url.drivername, url.drivername)
    if driver not in DRIVERS.values() or "\0" in named or not _names_a_place(url):
        raise InputError(FORM)
    return url.set(drivername=driver).render_as_string(hide_password=False)


def file_of(url: sa.URL) -> Path | None:
    """The file of a SQLite database; None for one on a server."""
    return Path(url.database or "") if url.drivername == "sqlite" else None


def _names_a_place(url: sa.URL) -> bool:
    """In memory every thread of a server would have a database of its own, and lose it."""
    if url.drivername != "sqlite":
        return True
    return url.host is None and url.database not in (None, "", ":memory:") and not url.query


def _with_password_quoted(url: str) -> str:
    """With each `@` within the password as a URL has it: the host begins after the last."""
    parts = re.fullmatch(r"([^:/]+://[^:/]*:)([^/]*)(@[^@/]*(?:/.*)?)", url, re.DOTALL)
    if parts is None:
        return url
    before, password, after = parts.groups()
    return before + password.replace("@", "%40") + after
