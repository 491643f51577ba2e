"""What is no preset is refused at the door; what is kept already takes nothing else along."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.database import StoredRows, connected
from engine.machine import own_presets
from engine.machine.clock import seconds_clock
from engine.machine.hardware import find_preset
from engine.machine.preset import Preset, record_of
from engine.machine.preset_text import PREFIX, is_preset, read_preset, write_preset

SOUND = Preset(
    "own-x", "x", "llama-3-8b", "a100-80gb", 2, seconds_clock(0.1, 1 / 3), 3.25, "by hand"
)
NONE, INFINITE = float("nan"), float("inf")


def changed(**fields):
    return json.dumps({**json.loads(write_preset(SOUND)), **fields})


BAD = {
    "no JSON": ("{", "not JSON"),
    "a list": ("[1]", "one JSON object"),
    "fields are missing": ('{"title": "x"}', "it has no N0, c0"),
    "nested without end": ("[" * 9_000, "nested too deeply"),
    "nested": (changed(fit=[[[["x"]]]]), "fit must be a text"),
    "of another version": (changed(format="headroom preset 2"), "another format"),
    "a format of odd kind": (changed(format=["headroom preset 1"]), "another format"),
    "longer than any": (changed(fit="x" * 100_000), "longer than 10,000"),
    "title of 5 000 characters": (changed(title="x" * 5_000), "title has 5,000 characters"),
    "fit of 5 000 characters": (changed(fit="x" * 5_000), "fit has 5,000 characters"),
    "title is a number": (changed(title=5), "title must be a text"),
    "half a character in the title": (changed(title="\ud800"), "title has NUL or half"),
    "half a character in the fit": (changed(fit="a\udfffb"), "fit has NUL or half"),
    "NUL in the title": (changed(title="a\0b"), "title has NUL"),
    "number of 400 digits": (changed(c0=10**400), "c0 must be a number"),
    "number of 5 000 digits": (changed().replace("0.1", "1" * 5_000), "too many digits"),
    "negative": (changed(c0=-1), "c0 must be a number"),
    "no number": (changed(c1=NONE), "c1 must be a number"),
    "infinite": (changed(c2=INFINITE), "c2 must be a number"),
    "a truth": (changed(c3=True), "c3 must be a number"),
    "a text": (changed(c1="fast"), "c1 must be a number"),
    "too slow": (changed(c0=1e7), "c0 must be a number"),
    "no time at all": (changed(c0=0, c1=0), "coefficients are all 0"),
    "error below 0": (changed(error_percent=-3), "error_percent must be"),
    "error is no number": (changed(error_percent=NONE), "error_percent must be"),
    "error is a truth": (changed(error_percent=True), "error_percent must be"),
    "error of 400 digits": (changed(error_percent=10**400), "error_percent must be"),
    "model of nobody": (changed(model="nobody's"), "model is not known"),
    "gpu is a list": (changed(gpu=["x"]), "gpu must be a text"),
    "parallel is negative": (changed(tensor_parallel=-1), "tensor_parallel must be"),
    "parallel is infinite": (changed(tensor_parallel=INFINITE), "tensor_parallel must be"),
    "parallel is a truth": (changed(tensor_parallel=True), "tensor_parallel must be"),
    "parallel is a half": (changed(tensor_parallel=1.5), "tensor_parallel must be"),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))


def test_written_and_read():
    """Bit for bit; also what a version wrote that named no format."""
    assert read_preset(write_preset(SOUND), "own-x") == SOUND
    assert read_preset(json.dumps(record_of(SOUND)), "own-x") == SOUND
    assert is_preset(write_preset(SOUND))
    assert is_preset(json.dumps(record_of(SOUND)))
    assert not any(map(is_preset, ("{", "[]", "{}", '{"format": "headroom view 1"}')))


@pytest.mark.parametrize("kind", BAD)
def test_refused(kind):
    """With the field's name."""
    content, told = BAD[kind]
    with pytest.raises(InputError, match=told):
        read_preset(content, PREFIX)


@pytest.mark.parametrize("kind", BAD)
def test_kept_already(kind):
    """The others are offered, it is told with its key, and can be deleted."""
    kept = own_presets.save(SOUND)
    StoredRows(connected(), "preset").add("own-bad", BAD[kind][0])
    presets, (odd,) = own_presets.listed()
    assert presets == {kept.key: kept}
    assert odd.name == "own-bad"
    with pytest.raises(InputError, match="own-bad: "):
        find_preset("nothing")
    own_presets.delete("own-bad")
    assert own_presets.listed() == ({kept.key: kept}, [])


@pytest.mark.parametrize("key", ["llama-2-70b-a100-tp4", "", "own-" + "x" * 290])
def test_odd_keys(key):
    """No row takes the place of a preset of the project."""
    shipped = find_preset("llama-2-70b-a100-tp4")
    StoredRows(connected(), "preset").add(key, write_preset(SOUND))
    assert own_presets.own_presets() == {}
    assert len(own_presets.unreadable()) == 1
    assert find_preset("llama-2-70b-a100-tp4") == shipped


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(st.dictionaries(st.sampled_from(sorted(record_of(SOUND))), ANYTHING))
def test_whatever_is_let_in_can_be_kept(fields):
    """It is refused in a sentence, or comes back as it was."""
    try:
        preset = read_preset(changed(**fields), "own-x")
    except InputError as problem:
        str(problem).encode()
        return
    assert read_preset(write_preset(preset), "own-x") == preset
