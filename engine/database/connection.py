"""The database: transactions that read or write, and one sentence where it does not answer.

Whoever is told that sentence may be any visitor of a page: it names no path, user or host. Those
stand in the log of the program, which only who runs it can read.
"""

from __future__ import annotations

import logging
import secrets
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from engine.database.tables import KEPT, bring_up_to_date, is_current
from engine.database.url import FORM, database_url, file_of
from engine.errors import InputError
from engine.user_data import folder, place

LOG = logging.getLogger("headroom.database")
TO_READ, TO_WRITE = 1.0, 5.0  # seconds to wait for somebody's lock
TO_CONNECT = 3  # seconds to wait for a server
PAUSE = 5.0  # seconds for which who asks in passing is told of a silence without a new try
SILENT = "the database does not answer"
PAGES_IN_MEMORY = 1024  # of 4 kB: the most that a database in memory holds
FULL = (
    f"what is kept here in memory has reached {PAGES_IN_MEMORY * 4096 / 1e6:.1f} MB, the most: "
    "delete some of it"
)


class Database:
    """One database. Every method raises InputError where it does not answer.

    Attributes
    ----------
    is_private : in memory, and of nobody but who holds this object
    """

    def __init__(self, engine: sa.Engine, is_private: bool = False) -> None:
        self._engine = engine
        self.is_private = is_private
        self._file = None if is_private else file_of(engine.url)
        self._prepared: Hashable = None  # which file, or server, has its tables
        self._silent: tuple[float, str] | None = None  # since when, and what was said

    @classmethod
    def at(cls, url: str) -> Database:
        """At a URL of `database_url`; InputError where its driver is missing or it is odd."""
        try:
            if url.startswith("sqlite"):
                # Opened anew each time: the file may have gone, or be another one.
                engine = _following_sqlite(sa.create_engine(url, poolclass=sa.NullPool))
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

    @classmethod
    def in_memory(cls) -> Database:
        """A private one, bounded in size, which goes with this object.

        Its ids begin anywhere, so that a link to what another one holds names nothing here.
        """
        engine = sa.create_engine(
            "sqlite://",
            poolclass=sa.QueuePool,  # one connection is the database: who comes second waits
            pool_size=1,
            max_overflow=0,
            pool_timeout=TO_WRITE,
            connect_args={"check_same_thread": False},
        )
        sa.event.listen(engine, "connect", _bound_pages)
        database = cls(_following_sqlite(engine), is_private=True)
        weakref.finalize(database, engine.dispose)
        first = {"name": KEPT.name, "seq": secrets.randbelow(2**40)}
        with database.writing() as connection:
            connection.execute(sa.text("INSERT INTO sqlite_sequence VALUES (:name, :seq)"), first)
        return database

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
        if self.is_private and "is full" in whole:
            return FULL
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


_owners: list[Callable[[], Database | None]] = []


def kept_by(owner: Callable[[], Database | None]) -> None:
    """From now on ask `owner` where to keep what no URL is named for; None: in the environment's.

    A server whose visitors each keep their own says so here, once for all code: what forgot to
    ask would show them what belongs to others.
    """
    _owners[:] = [owner]


def connected(url: str | None = None) -> Database:
    """The database at a URL, else the owner's, else that of the environment: one object a URL."""
    own = None if url or not _owners else _owners[0]()
    return _at(database_url(url)) if own is None else own


def _make_folder() -> None:
    try:
        folder()
    except InputError as problem:
        LOG.warning("%s", problem)
        raise InputError(
            "the folder of your own data cannot be made, the program's log says where and why: "
            "set HEADROOM_HOME to a folder that can be written"
        ) from None


def _following_sqlite(engine: sa.Engine) -> sa.Engine:
    sa.event.listen(engine, "connect", _as_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _bound_pages(connection: Any, _: Any) -> None:
    connection.execute(f"PRAGMA max_page_count = {PAGES_IN_MEMORY}")


def _as_sqlite(connection: Any, _: Any) -> None:
    """Transactions are ours to begin; text that is no UTF-8 must not take other rows with it."""
    connection.isolation_level = None
    connection.text_factory = lambda content: content.decode("utf-8", "replace")


def _begin_sqlite(connection: sa.Connection) -> None:
    """Who writes takes the lock at once: two who had read first would wait for one another."""
    patience = connection.get_execution_options()["patience"]
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(1000 * patience)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if patience == TO_WRITE else "BEGIN")
