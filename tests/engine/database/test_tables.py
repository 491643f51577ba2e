"""A database of an earlier version becomes one of this version, with all that is in it.

`version_1/` was written by that version: a view, one that was deleted, a second one of the same
name, a row of yet another version, and a part of a sweep.
"""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from engine import InputError
from engine.database import Database
from engine.saved import Keeping, Snapshot
from engine.saved.sweeps import recall
from tests.engine.saved.test_saved import server, url  # noqa: F401

VERSION_1 = Path(__file__).with_name("version_1")
OLD = {"plan": ("Latency", "120 requests"), "plan (2)": ("Compare", "ä – 240 requests")}
SMALL = Snapshot("Latency", {"n": ["5"]}, "five", {"requests": 5})


@pytest.fixture
def old(url, tmp_path):  # noqa: F811
    """The URL of one of version 1, in either database."""
    if url.startswith("sqlite"):
        (tmp_path / "saved.db").write_bytes((VERSION_1 / "saved.db").read_bytes())
    else:
        execute(url, (VERSION_1 / "postgres.sql").read_text())
    return url


def execute(url, script):  # noqa: F811
    """As another program does it."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            file.executescript(script)
        return
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(script)
    engine.dispose()


@pytest.fixture
def keeping(old):
    found = Keeping.at(old)
    yield found
    found.close()


def test_everything_comes_along(keeping):
    """With the ids, which links name, and what cannot be read."""
    views, (odd,) = keeping.listed()
    assert {view.name: (view.snapshot.page, view.snapshot.title) for view in views} == OLD
    assert [view.name for view in views] == ["plan (2)", "plan"]
    ids = [view.id for view in views]
    assert min(ids) == 1
    assert odd.name == "of another version"
    assert "headroom view 0" in odd.reason
    assert recall(keeping.database, "a" * 64) == {0: {}}
    again = keeping.save("plan", SMALL)
    assert again.name == "plan (3)"
    assert again.id > max(*ids, odd.id)


def test_ids_are_not_given_again(keeping):
    """A link to a view that was deleted does not show another one."""
    last = keeping.save("last", SMALL)
    keeping.delete(last.id)
    assert keeping.save("next", SMALL).id > last.id


def test_once(keeping, old):
    """Opened again it is as it was."""
    before = keeping.listed()
    again = Keeping.at(old)
    assert again.listed() == before
    again.close()


def test_several_at_the_same_moment(old):
    """One changes the tables, the others wait, and nothing is there twice."""
    ready, problems, counts = threading.Barrier(6), [], []

    def program():
        mine = Keeping.at(old)
        try:
            ready.wait()
            counts.append(len(mine.views()))
        except Exception as problem:  # told below
            problems.append(problem)
        finally:
            mine.close()

    programs = [threading.Thread(target=program) for _ in range(6)]
    for one in programs:
        one.start()
    for one in programs:
        one.join()
    assert not problems
    assert counts == [2] * 6


def test_an_earlier_program_on_the_same_database(keeping, old):
    """It sees the views and saves among them: the servers of a team are not replaced at once."""
    keeping.views()
    row = "INSERT INTO views (name, saved, view) VALUES ('theirs', '2026-01-01', '{}')"
    execute(old, row)
    assert "theirs" in {odd.name for odd in keeping.listed()[1]}
    with keeping.database.reading() as connection:
        seen = connection.execute(sa.text("SELECT name FROM views ORDER BY name")).scalars().all()
    assert seen == ["of another version", "plan", "plan (2)", "theirs"]
    execute(old, "DELETE FROM views WHERE name = 'theirs'")
    assert "theirs" not in {odd.name for odd in keeping.listed()[1]}


def test_a_later_version_is_left_alone(url):  # noqa: F811
    """Nothing is written to what we do not know."""
    first = Database.at(url)
    with first.writing() as connection:
        connection.execute(sa.text("UPDATE headroom SET version = 99"))
    first.close()
    later = Keeping.at(url)
    for act in (later.views, lambda: later.save("x", SMALL)):
        with pytest.raises(InputError, match="a later version of Headroom"):
            act()
    later.close()
