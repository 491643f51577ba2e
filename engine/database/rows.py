"""The rows of one kind, views or presets: each has a name that no other of its kind has.

The database itself sees to that. Who keeps something under a name that is taken may ask for the
next free one, "name (2)": two who save at the same moment lose nothing.

A row may also have been written by another version, or by hand. Who lists the rows gets those that
can be read, and beside them those that cannot, each with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from engine.database.connection import Database
from engine.database.tables import KEPT
from engine.errors import InputError

LONGEST = 1_010_000  # characters of a row that are read: more is cut, and too long for any kind
MOST_ALIKE = 1000  # that one name is given to, numbered

T = TypeVar("T")


class NameTaken(InputError):
    """Another row of the kind has the name."""


@dataclass(frozen=True)
class StoredRow:
    """What stands in the database.

    Attributes
    ----------
    id : never given to another one
    name : unique among its kind
    saved : when, as the database writes it
    content : a text
    """

    id: int
    name: str
    saved: str
    content: str

    def time(self) -> datetime:
        """When it was saved, in UTC; InputError where that is no time."""
        try:
            moment = datetime.fromisoformat(self.saved)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            raise InputError("the time when it was saved is no time") from None


@dataclass(frozen=True)
class Unreadable:
    """What holds nothing that this version can read.

    Attributes
    ----------
    id : of the row; None for a file that is not in the database
    name : of the row or file
    reason : in one sentence
    """

    id: int | None
    name: str
    reason: str


class StoredRows:
    """Those of one kind. Every method raises InputError where the database does not answer."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database = database
        self._kind = kind

    @property
    def are_private(self) -> bool:
        """Whether nobody but the present visitor has them: no files of the server join them."""
        return self._database.is_private

    def all(self) -> list[StoredRow]:
        """The latest first."""
        if not self._database.is_there:
            return []
        # As texts, and cut: SQLite takes anything in any column.
        texts = (
            sa.func.substr(sa.cast(column, sa.Text), 1, LONGEST)
            for column in (KEPT.c.name, KEPT.c.saved, KEPT.c.content)
        )
        query = sa.select(KEPT.c.id, *texts).where(KEPT.c.kind == self._kind)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(KEPT.c.saved.desc(), KEPT.c.id.desc())).all()
        return [StoredRow(*row) for row in rows]

    def listed(self, read: Callable[[StoredRow], T]) -> tuple[list[T], list[Unreadable]]:
        """What can be read and what cannot, each the latest first.

        Parameters
        ----------
        read : makes of a row what it holds, or raises InputError
        """
        readable, unreadable = [], []
        for row in self.all():
            try:
                readable.append(read(row))
            except InputError as problem:
                unreadable.append(Unreadable(row.id, row.name, str(problem)))
        return readable, unreadable

    def add(self, name: str, content: str) -> StoredRow:
        """Keep a text under a name; NameTaken where another has it."""
        moment = datetime.now(UTC)
        record = {"kind": self._kind, "name": name, "saved": moment, "content": content}
        try:
            with self._database.writing() as connection:
                made = connection.execute(KEPT.insert(), record).inserted_primary_key
        except IntegrityError:
            raise self._taken(name) from None
        return StoredRow(made[0] if made else 0, name, moment.isoformat(), content)

    def change(self, id: int, name: str, content: str | None = None) -> None:
        """Another name, and another content if one is given.

        Raises
        ------
        NameTaken
            Where another has the name; InputError where the row is gone.
        """
        values = {"name": name} if content is None else {"name": name, "content": content}
        try:
            with self._database.writing() as connection:
                changed = connection.execute(KEPT.update().where(self._has(id)).values(values))
        except IntegrityError:
            raise self._taken(name) from None
        if not changed.rowcount:
            raise InputError(f"that {self._kind} is gone: somebody else has deleted it")

    def delete(self, id: int) -> None:
        """Forget a row; nothing where it is gone already."""
        with self._database.writing() as connection:
            connection.execute(KEPT.delete().where(self._has(id)))

    def _has(self, id: int) -> sa.ColumnElement[bool]:
        return (KEPT.c.id == id) & (KEPT.c.kind == self._kind)

    def _taken(self, name: str) -> NameTaken:
        return NameTaken(f"another {self._kind} is called {name}: choose another name")


def first_free(wanted: str, keep: Callable[[str], T]) -> T:
    """What `keep` makes of the name that is wanted, or of the first free one numbered after it."""
    for number in islice(count(1), MOST_ALIKE):
        try:
            return keep(wanted if number == 1 else f"{wanted} ({number})")
        except NameTaken:
            continue
    raise InputError(f"{MOST_ALIKE} are called {wanted}: choose another name")
