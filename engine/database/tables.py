"""The tables, and the steps from those of earlier versions.

A database says in `headroom` which version its tables have. One that a later version of the program
has changed is left alone.

1  `views` and `sweeps`
2  `kept`: views and presets, each kind with names of its own. `views` is what earlier versions
   of the program see of it, who may still be using the same database.
"""

from __future__ import annotations

import sqlalchemy as sa

from engine.errors import InputError

VERSION = 2
LONGEST_NAME = 300  # characters
LOCK = 4_851_201  # the number of an advisory lock: one process at a time changes the tables

TABLES = sa.MetaData()
STATE = sa.Table("headroom", TABLES, sa.Column("version", sa.Integer, nullable=False))
KEPT = sa.Table(
    "kept",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("kind", sa.String(20), nullable=False, server_default="view"),
    sa.Column("name", sa.String(LONGEST_NAME), nullable=False),
    sa.Column("saved", sa.DateTime(timezone=True), nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.UniqueConstraint("kind", "name"),
    sqlite_autoincrement=True,  # an id is never given to another row: links hold it
)
SWEEPS = sa.Table(
    "sweeps",
    TABLES,
    sa.Column("sweep", sa.String(64), primary_key=True),
    sa.Column("part", sa.Integer, primary_key=True),
    sa.Column("used", sa.DateTime(timezone=True), nullable=False, index=True),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("cells", sa.Text, nullable=False),
)
OF_VERSION_1 = (
    "INSERT INTO kept (id, kind, name, saved, content) "
    "SELECT id, 'view', name, saved, view FROM views",
    "DROP TABLE views",
)
FOR_VERSION_1 = (
    "CREATE VIEW views AS SELECT id, name, saved, content AS view FROM kept WHERE kind = 'view'",
)
FOR_VERSION_1_OF_SQLITE = (  # PostgreSQL passes on by itself what is written to such a view
    "CREATE TRIGGER save_view INSTEAD OF INSERT ON views BEGIN "
    "INSERT INTO kept (kind, name, saved, content) "
    "VALUES ('view', NEW.name, NEW.saved, NEW.view); END",
    "CREATE TRIGGER delete_view INSTEAD OF DELETE ON views BEGIN "
    "DELETE FROM kept WHERE id = OLD.id; END",
)
NEXT_ID = (
    "SELECT setval(pg_get_serial_sequence('kept', 'id'), max(id)) FROM kept HAVING max(id) > 0",
)


def is_current(connection: sa.Connection) -> bool:
    """Whether the tables are of this version.

    Raises
    ------
    InputError
        Where they are of a later one.
    """
    version = _version(connection)
    if version > VERSION:
        raise InputError(
            f"a later version of Headroom keeps its data in this database (tables of version "
            f"{version}, here {VERSION}): update this one"
        )
    return version == VERSION


def bring_up_to_date(connection: sa.Connection) -> None:
    """Make the tables or change them, within a transaction that writes."""
    on_server = connection.dialect.name == "postgresql"
    if on_server:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
    if is_current(connection):  # another process was first
        return
    steps = (*OF_VERSION_1, *(NEXT_ID if on_server else ())) if _version(connection) == 1 else ()
    TABLES.create_all(connection)
    for statement in (*steps, *FOR_VERSION_1, *(() if on_server else FOR_VERSION_1_OF_SQLITE)):
        connection.exec_driver_sql(statement)
    connection.execute(STATE.insert(), {"version": VERSION})


def _version(connection: sa.Connection) -> int:
    """0 where there are no tables yet."""
    there = sa.inspect(connection)
    if there.has_table(STATE.name):
        return connection.execute(sa.select(sa.func.max(STATE.c.version))).scalar() or 0
    return int(there.has_table("views"))
