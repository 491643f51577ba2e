"""The database: transactions that read or write, and one sentence where it does not answer.

Whoever is told that sentence may be any visitor of a page: it names no path, user or host. Those
stand in the log of the program, which only who runs it can read.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from engine.database.tables import bring_up_to_date, is_current
from engine.database.url import FORM, database_url, file_of
from engine.errors import InputError
from engine.user_data import folder, place

LOG = logging.getLogger("headroom.database")
TO_READ, TO_WRITE = 1.0, 5.0  # seconds to wait for somebody's lock
TO_CONNECT = 3  # seconds to wait for a server
PAUSE = 5.0  # seconds for which who asks in passing is told of a silence without a new try
SILENT = "the database does not answer"


class Database:
    """One database. Every method raises InputError where it does not answer."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._file = file_of(engine.url)
        self._prepared: Hashable = None  # which file, or server, has its tables
        self._silent: tuple[float, str] | None = None  # since when, and what was said

    @classmethod
    def at(cls, url: str) -> Database:
        """At a URL of `database_url`; InputError where its driver is missing or it is odd."""
        try:
            if url.startswith("sqlite"):
                # Opened anew each time: the file may have gone, or be another one.
                engine = sa.create_engine(url, poolclass=sa.NullPool)
                sa.event.listen(engine, "connect", _as_sqlite)
                sa.event.listen(engine, "begin", _begin_sqlite)
            else:
                wait = {"connect_timeout": TO_CONNECT}
                engine = sa.create_engine(
                    url, connect_args=wait, pool_pre_ping=True, pool_timeout=TO_CONNECT
                )
        except ImportError as missing:
            raise InputError(
                f"this database needs the package {missing.name}, which is not installed: for "
                "PostgreSQL pip install 'headroom[postgres]'"
            ) from None
        except (SQLAlchemyError, TypeError, ValueError):
            raise InputError(FORM) from None
        return cls(engine)

    @property
    def is_there(self) -> bool:
        """Whether there can be anything in it; reading a file that is not there makes none."""
        return self._file is None or self._file.exists()

    @property
    def silence(self) -> str:
        """What was said, where it did not answer a moment ago; else empty."""
        if self._silent is None or time.monotonic() - self._silent[0] > PAUSE:
            return ""
        return self._silent[1]

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """What is read within is of one moment."""
        with self._answering(), self._begin(TO_READ) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is kept, or nothing."""
        with self._answering(), self._begin(TO_WRITE) as connection:
            yield connection

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            self._prepare()
            yield
        except IntegrityError:
            raise
        except SQLAlchemyError as problem:
            self._prepared = None
            problem_in_words = self._told(problem)
            self._silent = time.monotonic(), problem_in_words
            raise InputError(problem_in_words) from None
        self._silent = None

    def _told(self, problem: SQLAlchemyError) -> str:
        """What any visitor may read; the rest goes to the log."""
        url = self._engine.url
        cause = problem.orig if isinstance(problem, DBAPIError) else problem
        whole = " ".join(str(cause).split())
        if url.password:
            whole = whole.replace(str(url.password), "***")
        LOG.warning("database %s: %s", url.set(query={}).render_as_string(), whole)
        if self._file is not None and isinstance(problem, DBAPIError):
            return f"{SILENT}: {whole}"
        code = getattr(cause, "sqlstate", None)
        return f"{SILENT}: it reports error {code}" if code else SILENT

    def _prepare(self) -> None:
        """See that it has its tables, once a file or server."""
        here = self._identity()
        if here is not None and here == self._prepared:
            return
        if self._file is not None and self._file.parent == place():
            _make_folder()
        with self._begin(TO_READ) as connection:
            current = is_current(connection)
        if not current:
            with self._begin(TO_WRITE) as connection:
                bring_up_to_date(connection)
        self._prepared = self._identity()

    def _identity(self) -> Hashable:
        """Which file it is; None where there is none."""
        if self._file is None:
            return "server"
        try:
            status = self._file.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    @contextmanager
    def _begin(self, patience: float) -> Iterator[sa.Connection]:
        engine = self._engine.execution_options(patience=patience)
        try:
            connection = engine.connect()
        except (TypeError, ValueError, OSError):  # of a driver that cannot make sense of the URL
            raise InputError(FORM) from None
        with connection, connection.begin():
            yield connection


@cache
def _at(url: str) -> Database:
    return Database.at(url)


def connected(url: str | None = None) -> Database:
    """The database at a URL, else that of the environment: one object a URL."""
    return _at(database_url(url))


def _make_folder() -> None:
    try:
        folder()
    except InputError as problem:
        LOG.warning("%s", problem)
        raise InputError(
            "the folder of your own data cannot be made, the program's log says where and why: "
            "set HEADROOM_HOME to a folder that can be written"
        ) from None


def _as_sqlite(connection: Any, _: Any) -> None:
    """Transactions are ours to begin; text that is no UTF-8 must not take other rows with it."""
    connection.isolation_level = None
    connection.text_factory = lambda content: content.decode("utf-8", "replace")


def _begin_sqlite(connection: sa.Connection) -> None:
    """Who writes takes the lock at once: two who had read first would wait for one another."""
    patience = connection.get_execution_options()["patience"]
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(1000 * patience)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if patience == TO_WRITE else "BEGIN")
