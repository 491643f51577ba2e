"""Presets that an earlier version kept in files are moved into the database once; none is lost."""

import json
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from engine import InputError
from engine.machine import own_presets
from engine.machine.clock import seconds_clock
from engine.machine.hardware import find_preset
from engine.machine.preset import Preset, record_of

MINE = Preset("own-mine", "Mine", "", "", 1, seconds_clock(0.05, 0.0002), 1.5, "of x.json")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Of the files, in a folder of the test's own data."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    (tmp_path / "hardware").mkdir()
    return tmp_path / "hardware"


def put(folder, preset):
    """As the earlier version did."""
    path = folder / f"{preset.key}.json"
    path.write_text(json.dumps(record_of(preset), indent=1, ensure_ascii=False), "utf-8")
    return path


def test_moved_once(folder):
    """With its key, which links and commands name; deleted, it does not come back."""
    named_by_hand = replace(MINE, key="own-called-otherwise", title="Größe")
    files = [put(folder, MINE), put(folder, named_by_hand)]
    assert find_preset("own-mine") == MINE
    assert own_presets.own_presets() == {"own-mine": MINE, named_by_hand.key: named_by_hand}
    assert not any(path.exists() for path in files)
    own_presets.delete("own-mine")
    assert list(own_presets.own_presets()) == [named_by_hand.key]


DAMAGED = {
    "{": "not JSON",
    '{"title": "x"}': "it has no N0",
    "[" * 9_000: "nested",
    json.dumps({**record_of(MINE), "c0": 10**400}): "c0 must be",
    json.dumps({**record_of(MINE), "title": "x" * 100_000}): "longer than",
}


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_one_stays(folder, content):
    """It is listed with its reason, and the others come."""
    put(folder, MINE)
    bad = folder / "own-bad.json"
    bad.write_text(content)
    for _ in range(2):
        presets, (odd,) = own_presets.listed()
        assert presets == {"own-mine": MINE}
        assert (odd.id, odd.name) == (None, "own-bad.json")
        assert DAMAGED[content] in odd.reason
    assert bad.read_text() == content
    with pytest.raises(InputError, match=r"own-bad\.json"):
        find_preset("own-bad")
    put(folder, replace(MINE, key="own-bad", title="Mended"))
    assert find_preset("Mended").key == "own-bad"


def test_no_text(folder):
    """Nor UTF-8; and a folder of that name."""
    (folder / "own-bytes.json").write_bytes(b"\xff\xfe{")
    (folder / "own-folder.json").mkdir()
    reasons = [odd.reason for odd in own_presets.listed()[1]]
    assert len(reasons) == 2
    assert "UTF-8" in reasons[0]


def test_others_are_left_alone(folder):
    """What is no preset of the user's own, or just being written by an earlier version."""
    (folder / "own-new.json").touch()
    (folder / "notes.json").write_text("{}")
    assert own_presets.listed() == ({}, [])
    assert len(list(folder.iterdir())) == 2


def test_a_key_that_is_taken(folder):
    """By another preset, as in the database of a team: both are there."""
    theirs = own_presets.save(replace(MINE, fit="theirs"))
    put(folder, MINE)
    presets = own_presets.own_presets()
    assert presets[theirs.key] == theirs
    assert presets["own-mine-2"] == replace(MINE, key="own-mine-2", title="Mine (2)")


def test_stopped_half_way(folder):
    """In the database and still a file: it is there once."""
    put(folder, MINE)
    own_presets.own_presets()
    path = put(folder, MINE)
    assert own_presets.own_presets() == {"own-mine": MINE}
    assert not path.exists()


def test_a_file_that_cannot_be_removed(folder, monkeypatch):
    """Is not taken over, or it would come back when it is deleted."""
    put(folder, MINE)

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        presets, (odd,) = own_presets.listed()
    assert presets == {}
    assert "cannot be moved into the database: Permission denied" in odd.reason
    assert own_presets.own_presets() == {"own-mine": MINE}


def test_a_database_that_does_not_answer(folder, monkeypatch):
    """Nothing is touched."""
    path = put(folder, MINE)
    with monkeypatch.context() as patch:
        patch.setenv("HEADROOM_DATABASE", "postgresql://me@127.0.0.1:9/none")
        assert own_presets.own_presets() == {}
    assert path.exists()
    assert own_presets.own_presets() == {"own-mine": MINE}


def test_several_programs_at_the_same_moment(folder):
    """Each preset is there once."""
    files = [put(folder, replace(MINE, key=f"own-{n}", title=f"{n}")) for n in range(20)]
    with get_context("spawn").Pool(3) as pool:
        for found in pool.imap_unordered(count, range(3)):
            assert found == 20
    assert sorted(own_presets.own_presets()) == sorted(path.stem for path in files)


def count(_):
    """How many presets another process sees."""
    return len(own_presets.own_presets())
