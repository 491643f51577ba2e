"""A database of one visitor: nobody else gets at it, it has an end, and it goes with its holder."""

import gc
import threading
import weakref

import pytest

from engine.database import Database, StoredRows, connected, connection, kept_by
from engine.errors import InputError
from engine.machine import own_presets
from engine.machine.clock import seconds_clock
from engine.machine.preset import Preset

LONG = 900_000 * "x"


@pytest.fixture
def owned(monkeypatch):
    """Whoever names no database gets this one."""
    monkeypatch.setattr(connection, "_owners", [])
    database = Database.in_memory()
    kept_by(lambda: database)
    yield database
    database.close()


def rows(database):
    return StoredRows(database, "view")


def test_two_have_nothing_in_common():
    first, second = Database.in_memory(), Database.in_memory()
    row = rows(first).add("plan", "text")
    assert [kept.name for kept in rows(first).all()] == ["plan"]
    assert rows(second).all() == []
    rows(second).delete(row.id)
    with pytest.raises(InputError, match="is gone"):
        rows(second).change(row.id, "taken")
    assert [kept.name for kept in rows(first).all()] == ["plan"]


def test_an_id_names_nothing_elsewhere():
    """Each begins anywhere: the first view of one is not the first of another."""
    ids = {rows(Database.in_memory()).add("plan", "text").id for _ in range(20)}
    assert len(ids) == 20


def test_it_has_an_end():
    """And says so; what is deleted makes room."""
    database = Database.in_memory()
    kept = [rows(database).add(f"plan {number}", LONG) for number in range(3)]
    with pytest.raises(InputError, match="the most: delete some of it"):
        rows(database).add("plan 4", 3 * LONG)
    assert len(rows(database).all()) == 3
    rows(database).delete(kept[0].id)
    rows(database).add("again", LONG)


def test_it_goes_with_its_holder():
    database = Database.in_memory()
    rows(database).add("plan", "text")
    gone = weakref.ref(database)
    del database
    gc.collect()
    assert gone() is None


def test_threads_wait_for_one_another():
    """A visitor's script may still end in one thread as it begins in the next."""
    database, problems = Database.in_memory(), []

    def work(name):
        try:
            for number in range(20):
                rows(database).add(f"{name} {number}", "text")
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(rows(database).all()) == 80


def test_presets_go_there_and_files_stay(owned, tmp_path, monkeypatch):
    """All code that names no database: and what lies on the server's disk is nobody's to take."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    (tmp_path / "hardware").mkdir()
    of_the_server = tmp_path / "hardware" / "own-theirs.json"
    of_the_server.write_text("{}")
    own_presets.save(Preset("", "mine", "", "", 1, seconds_clock(0.01), None, "by hand"))
    assert [preset.title for preset in own_presets.own_presets().values()] == ["mine"]
    assert own_presets.unreadable() == []
    assert [path.name for path in tmp_path.iterdir()] == ["hardware"]
    assert of_the_server.is_file()


def test_a_url_that_is_named_is_followed(owned, tmp_path):
    """As a command line does, whoever owns the rest."""
    assert connected(f"sqlite:///{tmp_path / 'x.db'}") is not owned
    assert connected() is owned
