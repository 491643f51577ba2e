"""Presets of one's own on the pages: saved from a calibration, in the sidebar, in links."""

import json
from dataclasses import replace

import pytest

from engine.database import StoredRows, connected
from engine.machine.clock import seconds_clock
from engine.machine.own_presets import listed, own_presets, save
from engine.machine.preset import Preset, record_of
from engine.machine.preset_text import write_preset
from pages.parts.store import store
from tests.services.opened_page import GPU, SAVED, open_audit, open_page, press, said, vllm_result

MINE = Preset("", "My server", "", "", 1, seconds_clock(0.05, 0.0002, 64), 1.5, "fitted to x.json")
FIELDS = {"c0": "50", "c1": "200", "N0": "64", "c2": "0", "c3": "0"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))


def test_calibration_is_saved_and_used():
    """Under the name given, with what it models; it is the clock at once."""
    store.clear()  # another test may have calibrated the same
    at = open_audit("bench.json", vllm_result(), **GPU)
    press(at, "Calibrate round times")
    (engine,) = [field for field in at.text_input if field.label == "Engine and version"]
    engine.set_value("vLLM 0.11").run()
    press(at, "Save preset")
    assert at.selectbox(key="clock").value == "own-bench"
    assert at.number_input(key="c0").value == pytest.approx(37.2)
    assert "of bench.json; models vLLM 0.11, vllm serving a-model" in said(at)
    press(at, "Save preset")
    assert sorted(own_presets()) == ["own-bench", "own-bench-2"]


def test_renamed_and_deleted():
    """In the sidebar; after that the clock is rounds again."""
    key = save(MINE).key
    at = open_page(clock=key)
    at.text_input(key=f"title of {key}").set_value("Theirs").run()
    press(at, "Rename")
    assert at.selectbox(key="clock").value == "own-theirs"
    assert at.number_input(key="c0").value == 50
    press(at, "Delete")
    assert at.selectbox(key="clock").value == "rounds"
    assert own_presets() == {}


def test_link_holds_the_round_times():
    """So a view opens where the preset is not kept, and says so; without times it is rounds."""
    at = open_page(clock=save(MINE).key)
    link = {"clock": "own-my-server", **FIELDS}
    assert at.query_params == link
    table = at.dataframe[0].value
    press(at, "Delete")
    at = open_page(**link)
    assert at.selectbox(key="clock").value == "own-my-server"
    assert at.number_input(key="c0").value == 50
    assert "the preset itself is not kept here" in said(at)
    assert at.dataframe[0].value.equals(table)
    at.number_input(key="c0").set_value(60.0).run()
    assert at.query_params["c0"] == "60"
    at = open_page(clock="own-my-server")
    assert at.selectbox(key="clock").value == "rounds"
    assert "There is no preset own-my-server here" in at.warning[0].value


def put(key, content):
    """A row as another version may have written it, or somebody by hand."""
    StoredRows(connected(), "preset").add(key, content)


def test_one_that_cannot_be_read():
    """No page ends; Saved says why, beside the views, and can delete it."""
    kept = save(MINE)
    put("own-bad", '{"title": "x"}')
    at = open_page(n="50")
    assert not at.error
    assert "One preset of your own cannot be read" in said(at)
    assert kept.title in at.selectbox(key="clock").options
    at = open_page(SAVED)
    (told,) = at.text
    assert told.value.startswith("The preset “own-bad” cannot be read: this is no preset")
    (odd,) = listed()[1]
    at.button(key=f"delete {odd.id}").click().run()
    assert not at.exception
    assert not at.text
    assert listed() == ({kept.key: kept}, [])


def test_a_file_that_cannot_be_read(tmp_path):
    """Of an earlier version: it is listed, and stays for whoever can mend it."""
    (tmp_path / "hardware").mkdir()
    (tmp_path / "hardware" / "own-old.json").write_text("[" * 9_000)
    at = open_page(SAVED)
    assert at.text[0].value.startswith("The preset “own-old.json” cannot be read: ")
    assert "in the folder hardware" in said(at)
    assert not [button for button in at.button if button.label == "Delete it"]


def test_many_that_cannot_be_read():
    """They are counted, and do not fill every page."""
    for number in range(30):
        put(f"own-{number}", "{")
    at = open_page(SAVED)
    assert "30 presets of your own cannot be read" in said(at)
    assert len(at.text) == 20
    assert "of 30" in said(at)


def test_a_very_slow_server():
    """Every preset that is let in can be shown: fields take what the clock takes."""
    key = save(replace(MINE, title="Slow", clock=seconds_clock(5e3, 1e6, 1e6, 1e6, 1e6))).key
    at = open_page(n="5", clock=key)
    assert at.number_input(key="c0").value == 5e6
    assert not at.error


def test_from_a_file():
    """What was exported, or an earlier version kept, becomes a preset; what is none is refused."""
    at = open_page(SAVED)
    for content in (write_preset(MINE), json.dumps(record_of(MINE))):
        at.file_uploader(key="view file").upload("mine.json", content.encode()).run()
        assert not at.exception
    assert [preset.title for preset in own_presets().values()] == ["My server", "My server (2)"]
    at.file_uploader(key="view file").upload("bad.json", b'{"c0": true}').run()
    assert "bad.json: this is no preset" in at.error[0].value
    (table,) = [t.value for t in open_page(SAVED).dataframe if "Round times (s)" in t.value]
    assert table["Name"].tolist() == ["My server", "My server (2)"]
