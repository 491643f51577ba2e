"""The saved views among what a database keeps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engine.database import Database, StoredRow, StoredRows, Unreadable, first_free
from engine.errors import InputError
from engine.fields import check_text
from engine.saved.snapshot import Snapshot, check_length, read_snapshot

MOST_NAMED = 120  # characters of a name


@dataclass(frozen=True)
class Kept:
    """A view in the database.

    Attributes
    ----------
    id : never given to another one
    name : unique among the views
    saved : when, in UTC
    """

    id: int
    name: str
    saved: datetime
    snapshot: Snapshot


class Keeping:
    """The saved views in one database.

    Every method raises InputError where the database does not answer.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._rows = StoredRows(database, "view")

    @classmethod
    def at(cls, url: str) -> Keeping:
        """In the database at a URL of `database_url`; InputError where its driver is missing."""
        return cls(Database.at(url))

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    def save(self, name: str, snapshot: Snapshot) -> Kept:
        """Keep a view under this name, or the first free one numbered after it."""
        wanted = _checked(name)
        check_length(snapshot)
        row = first_free(wanted, lambda free: self._rows.add(free, snapshot.text(free)))
        return Kept(row.id, row.name, row.time(), snapshot)

    def views(self) -> list[Kept]:
        """All that can be read, the latest first."""
        return self.listed()[0]

    def listed(self) -> tuple[list[Kept], list[Unreadable]]:
        """What can be read and what cannot, each the latest first."""
        return self._rows.listed(_read)

    def rename(self, id: int, name: str) -> str:
        """Give a view this name; InputError where another has it or the view is gone."""
        wanted = _checked(name)
        self._rows.change(id, wanted)
        return wanted

    def delete(self, id: int) -> None:
        """Forget a view; nothing where it is gone already."""
        self._rows.delete(id)


def _read(row: StoredRow) -> Kept:
    return Kept(row.id, row.name, row.time(), read_snapshot(row.content)[1])


def _checked(name: str) -> str:
    clean = " ".join(name.split())
    if not 1 <= len(clean) <= MOST_NAMED:
        raise InputError(f"a name must have 1 to {MOST_NAMED} characters")
    check_text("the name", clean)
    return clean
