"""The one store of what users keep: saved views, presets of their own, finished parts of sweeps.

url.py         which database it is: SQLite in a file without any set-up, or PostgreSQL by its URL
connection.py  the database, and what is said where it does not answer
tables.py      its tables, and the steps from those of earlier versions
rows.py        the rows of one kind, each under a name of its own
"""

from engine.database.connection import Database, connected, kept_by
from engine.database.rows import NameTaken, StoredRow, StoredRows, Unreadable, first_free
from engine.database.tables import SWEEPS
from engine.database.url import DATABASE, database_url

__all__ = [
    "DATABASE",
    "SWEEPS",
    "Database",
    "NameTaken",
    "StoredRow",
    "StoredRows",
    "Unreadable",
    "connected",
    "database_url",
    "first_free",
    "kept_by",
]
