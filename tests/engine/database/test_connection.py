"""Where a database does not answer, that is told without delay, and nothing of it is shown."""

import shutil
import sqlite3
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa

from engine import InputError
from engine.database import connection as of_connection
from engine.database import database_url
from engine.machine import own_presets
from engine.saved import Keeping, Snapshot
from tests.engine.saved.test_saved import keeping, server, url  # noqa: F401
from tests.services.opened_page import SAVED, open_page, said, save, toasts

SMALL = Snapshot("Latency", {"n": ["5"]}, "five", {"requests": 5})
NOBODY = "postgresql://planner:se@cret@127.0.0.1:9/plans"
SHOWN = ("planner", "se@cret", "cret", "127.0.0.1", "plans")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder of the test's own with one view in its database."""
    monkeypatch.delenv("HEADROOM_DATABASE", raising=False)
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    kept = Keeping.at(database_url())
    kept.save("sound", SMALL)
    return tmp_path


@contextmanager
def locked(folder):
    """Another program is at it, and lets nobody read."""
    with closing(sqlite3.connect(folder / "saved.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def test_locked_by_another_program(home):
    """Every page answers soon; when the lock is gone, all is as before."""
    with locked(home):
        at = open_page(SAVED, seconds=15)
        assert "does not answer: database is locked" in at.error[0].value
        at = save(open_page(n="50", seconds=15), "mine")
        assert "database is locked" in toasts(at)
        assert "not offered" in said(at)
    save(open_page(n="50"), "mine")
    assert "2 views are saved" in said(open_page(SAVED))


def test_presets_in_passing(home, monkeypatch):
    """Every page lists them several times: the database is not waited for each time."""
    asked = []
    monkeypatch.setattr(of_connection, "TO_READ", 0.01)
    with locked(home):
        with pytest.raises(InputError, match="locked"):
            own_presets.listed()
        with monkeypatch.context() as patch:
            patch.setattr(of_connection.Database, "reading", lambda self: asked.append(self))
            with pytest.raises(InputError, match="locked"):
                own_presets.listed()
    assert not asked
    monkeypatch.setattr(of_connection, "PAUSE", 0.0)
    assert own_presets.listed() == ({}, [])


@pytest.mark.parametrize("what", ["file", "folder"])
def test_deleted_while_running(home, what):
    """What is saved afterwards is kept, in a new one."""
    at = open_page(n="50")
    if what == "file":
        (home / "saved.db").unlink()
    else:
        shutil.rmtree(home)
    assert "Saved as" in toasts(save(at, "mine"))
    assert "One view is saved, **mine**" in said(open_page(SAVED))


def test_tables_dropped_while_running(keeping):  # noqa: F811
    """As when a backup is put back: it may be told once, and not for ever."""
    keeping.save("before", SMALL)
    with keeping.database.writing() as connection:
        connection.execute(sa.text("DROP VIEW views"))
        for table in ("kept", "sweeps", "headroom"):
            connection.execute(sa.text(f"DROP TABLE {table}"))
    with pytest.raises(InputError, match="does not answer"):
        keeping.save("lost", SMALL)
    assert keeping.save("after", SMALL).name == "after"


def test_damaged_while_running(home):
    """The file is no database: every page says so, and none ends."""
    (home / "saved.db").write_bytes(b"no database " * 1000)
    assert "file is not a database" in open_page(SAVED).error[0].value
    at = open_page(n="50")
    assert not at.error
    assert "not offered" in said(at)


def test_where_it_is_stays_hidden(home, monkeypatch, caplog):
    """Whoever runs the program reads in its log what a visitor does not."""
    monkeypatch.setenv("HEADROOM_DATABASE", NOBODY)
    at = open_page(SAVED)
    told = [at.error[0].value, said(at), toasts(save(open_page(n="50"), "mine"))]
    assert all("does not answer" in text for text in told)
    assert not [part for part in SHOWN for text in told if part in text]
    assert "planner" in caplog.text
    assert "127.0.0.1" in caplog.text
    assert "cret" not in caplog.text


def test_its_folder_stays_hidden(home, monkeypatch, caplog):
    """Where it cannot be made."""
    (home / "a-file").touch()
    monkeypatch.setenv("HEADROOM_HOME", str(home / "a-file"))
    at = save(open_page(n="50"), "mine")
    assert "set HEADROOM_HOME" in toasts(at)
    assert "a-file" not in toasts(at) + said(at)
    assert "a-file" in caplog.text


@pytest.mark.parametrize("odd", ["mysql://me:secret@host/x", "postgresql://h:port/x", "sqlite://"])
def test_an_odd_url_ends_no_page(home, monkeypatch, odd):
    """The pages that need no database go on."""
    monkeypatch.setenv("HEADROOM_DATABASE", odd)
    assert "must look like" in open_page(SAVED).error[0].value
    at = open_page(n="50")
    assert not at.error
    assert "must look like" in said(at)
    assert "must look like" in toasts(save(at, "mine"))


@pytest.mark.parametrize("named", ["", 5, {"url": ""}, {"saved": 5}, {"saved": {"url": 7}}])
def test_odd_secrets_end_no_page(home, monkeypatch, named):
    """Of the server's file secrets.toml."""
    monkeypatch.setenv("HEADROOM_DATABASE", "")  # put back at the end
    at = open_page(SAVED, secrets={"connections": named})
    assert not at.exception
    if named and named != {"url": ""}:
        assert "must look like" in at.error[0].value
