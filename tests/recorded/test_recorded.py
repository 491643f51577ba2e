"""Commands do what they did: their output, exit codes and files, but for the last digits."""

import json

import pytest

from tests.recorded import recording
from tests.recorded.commands import kept
from tests.recorded.difference import but_for_rounding, differences

KINDS = sorted({line.split()[0] for line in kept()})
EACH = 3  # of so many commands of a kind one is done; `python -m tests.recorded` does them all


@pytest.fixture(scope="module")
def committed():
    return recording.read(recording.COMMITTED)


def test_recording_is_of_these_commands(committed):
    """What is recorded is what would be: else record anew."""
    assert list(committed) == kept()


@pytest.mark.parametrize("kind", KINDS)
def test_commands_do_what_they_did(committed, kind):
    """The first that differs is named, and where."""
    lines = [line for line in kept() if line.split()[0] == kind][::EACH]
    before = {line: committed[line] for line in lines}
    told = next(differences(before, recording.record(lines), but_for_rounding), None)
    assert told is None, told


def test_commands_leave_nothing_behind():
    """A preset that one saves is not there for the next, so that any few can be done alone."""
    saved = next(line for line in kept() if "--save Mine --format json" in line)
    hardware = "hardware --format json"
    with_it = recording.record([saved.partition(" && ")[0], hardware])
    assert with_it[hardware] == recording.record([hardware])[hardware]
    assert "own-mine" in next(iter(with_it.values()))["steps"][0]["stdout"]


def doings(stdout, **files):
    return {"a": {"steps": [{"exit": 0, "stdout": stdout, "stderr": ""}], "files": files}}


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ('{"x": [1, {"y": 2.5}]}', '{"x": [1, {"y": 2.5000000001}]}', "stdout at $.x[1].y"),
        ('{"x": 1, "y": 2}', '{"y": 2, "x": 1}', "stdout at $, its names"),
        ('{"x": 1}', '{"x":  1}', "stdout in line 1"),
        ("one\ntwo\n", "one\ntwo\nthree\n", "stdout in line 3"),
        ("one\n", "one", "stdout in line 1"),
    ],
)
def test_difference_is_located(before, after, place):
    """In a document by its path, in a text by its line."""
    (told,) = differences(doings(before), doings(after))
    assert told.startswith(f"a\n  {place}\n")
    assert list(differences(doings(before), doings(before))) == []


def test_difference_of_files_and_commands():
    """One that is only on one side counts."""
    assert list(differences(doings("", f="1"), doings(""))) == ["a\n  the file f is only in BEFORE"]
    assert list(differences({}, doings(""))) == ["a\n  is only in AFTER"]


@pytest.mark.parametrize(
    ("after", "same"),
    [("2.50000000000001", True), ("2.5000001", False), ("3", False), ("2.5 ", False)],
)
def test_rounding_is_of_floats_only(after, same):
    """Whole numbers and words must be the same."""
    found = differences(doings("2.5"), doings(after), but_for_rounding)
    assert (list(found) == []) is same
    assert not but_for_rounding(json.dumps([10**12]), json.dumps([10**12 + 1]))
