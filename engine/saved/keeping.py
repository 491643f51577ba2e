"""The database of saved views: SQLite in a file without any set-up, or PostgreSQL by its URL.

A name belongs to one view for good, which the database itself sees to. Whoever saves under a
name that is taken gets the next free one, "name (2)": two planners who save at the same moment
lose nothing.

A row may also have been written by another version, or by hand. Who lists the views gets those that
can be read, and beside them those that cannot, each with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from engine.errors import InputError
from engine.saved.snapshot import Snapshot, check_length, read_snapshot
from engine.saved.soundness import check_text
from engine.user_data import folder

DATABASE = "HEADROOM_DATABASE"  # the environment variable that holds a URL
MOST_NAMED = 120  # characters of a name
MOST_LOST = 5  # times that another process makes a table or an index first
MOST_ALIKE = 1000  # views that one name is given to, numbered

TABLES = sa.MetaData()
VIEWS = sa.Table(
    "views",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(MOST_NAMED + 10), nullable=False, unique=True),
    sa.Column("saved", sa.DateTime(timezone=True), nullable=False),
    sa.Column("view", sa.Text, nullable=False),
)


@dataclass(frozen=True)
class Kept:
    """A view in the database.

    Attributes
    ----------
    id : never given to another one
    name : unique
    saved : when, in UTC
    """

    id: int
    name: str
    saved: datetime
    snapshot: Snapshot


@dataclass(frozen=True)
class Unreadable:
    """A row of the database that holds no view of this version.

    Attributes
    ----------
    id, name : of the row
    reason : in one sentence
    """

    id: int
    name: str
    reason: str


def database_url(given: str | None = None) -> str:
    """The URL that is given or set, else of a SQLite file among the user's own data."""
    named = given or os.environ.get(DATABASE)
    if not named:
        return f"sqlite:///{folder() / 'saved.db'}"
    try:
        url = sa.make_url(named)
    except SQLAlchemyError:
        raise InputError(
            "the URL of the database must look like postgresql://user:password@host/name"
        ) from None
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)


class Keeping:
    """The saved views in one database.

    Every method raises InputError where the database does not answer.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._has_tables = False

    @classmethod
    def at(cls, url: str) -> Keeping:
        """In the database at a URL of `database_url`; InputError where its driver is missing."""
        patient = {"timeout": 20} if url.startswith("sqlite") else {}  # seconds, for a lock
        try:
            engine = sa.create_engine(url, connect_args=patient, pool_pre_ping=True)
        except ImportError as missing:
            raise InputError(
                f"this database needs the package {missing.name}, which is not installed: for "
                "PostgreSQL pip install 'headroom[postgres]'"
            ) from None
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _decode_anything)
        return cls(engine)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is kept, or nothing."""
        try:
            self._make_tables()
            with self._engine.begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except DBAPIError as problem:
            place = self._engine.url.render_as_string(hide_password=True)
            reason = str(problem.orig).strip().splitlines()[0]
            raise InputError(f"the database {place} does not answer: {reason}") from problem

    def _make_tables(self) -> None:
        """Once; another process may be making them at the same moment."""
        if self._has_tables:
            return
        for _ in range(MOST_LOST):
            with suppress(IntegrityError, OperationalError, sa.exc.ProgrammingError):
                TABLES.create_all(self._engine)
                break
        else:
            TABLES.create_all(self._engine)
        self._has_tables = True

    def save(self, name: str, snapshot: Snapshot) -> Kept:
        """Keep a view under this name, or the first free one numbered after it."""
        wanted = _checked(name)
        check_length(snapshot)
        for number in range(1, MOST_ALIKE):
            free = wanted if number == 1 else f"{wanted} ({number})"
            now = datetime.now(UTC)
            record = {"name": free, "saved": now, "view": snapshot.text(free)}
            try:
                with self.writing() as connection:
                    made = connection.execute(VIEWS.insert(), record).inserted_primary_key
            except IntegrityError:
                continue
            return Kept(made[0] if made else 0, free, now, snapshot)
        raise InputError(f"{MOST_ALIKE} views are called {wanted}: choose another name")

    def views(self) -> list[Kept]:
        """All that can be read, the latest first."""
        return self.listed()[0]

    def listed(self) -> tuple[list[Kept], list[Unreadable]]:
        """What can be read and what cannot, each the latest first."""
        as_texts = (sa.cast(column, sa.String) for column in (VIEWS.c.name, VIEWS.c.saved))
        texts = (*as_texts, sa.cast(VIEWS.c.view, sa.Text))
        query = sa.select(VIEWS.c.id, *texts).order_by(VIEWS.c.saved.desc(), VIEWS.c.id.desc())
        with self.writing() as connection:
            rows = connection.execute(query).all()
        views, unreadable = [], []
        for id, name, saved, view in rows:
            try:
                views.append(Kept(id, name or "", _time(saved), read_snapshot(view or "")[1]))
            except InputError as problem:
                unreadable.append(Unreadable(id, name or "", str(problem)))
        return views, unreadable

    def rename(self, id: int, name: str) -> str:
        """Give a view this name; InputError where another has it or the view is gone."""
        wanted = _checked(name)
        try:
            with self.writing() as connection:
                changed = connection.execute(
                    VIEWS.update().where(VIEWS.c.id == id).values(name=wanted)
                )
        except IntegrityError:
            raise InputError(f"another view is called {wanted}: choose another name") from None
        if not changed.rowcount:
            raise InputError("that view is gone: somebody else has deleted it")
        return wanted

    def delete(self, id: int) -> None:
        """Forget a view; nothing where it is gone already."""
        with self.writing() as connection:
            connection.execute(VIEWS.delete().where(VIEWS.c.id == id))


def _decode_anything(connection, _) -> None:
    """SQLite checks no text: what is not UTF-8 must not take the other rows with it."""
    connection.text_factory = lambda content: content.decode("utf-8", "replace")


def _time(saved: str | None) -> datetime:
    try:
        found = datetime.fromisoformat(saved or "")
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InputError("the time when it was saved is no time") from None


def _checked(name: str) -> str:
    clean = " ".join(name.split())
    if not 1 <= len(clean) <= MOST_NAMED:
        raise InputError(f"a name must have 1 to {MOST_NAMED} characters")
    check_text("the name", clean)
    return clean
