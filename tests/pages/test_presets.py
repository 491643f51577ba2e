"""Presets of one's own on the pages: saved from a calibration, in the sidebar, in links."""

import pytest

from engine.machine.clock import seconds_clock
from engine.machine.own_presets import own_presets, save
from engine.machine.preset import Preset
from tests.services.opened_page import GPU, open_audit, open_page, press, said, vllm_result

MINE = Preset("", "My server", "", "", 1, seconds_clock(0.05, 0.0002, 64), 1.5, "fitted to x.json")
FIELDS = {"c0": "50", "c1": "200", "N0": "64", "c2": "0", "c3": "0"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))


def test_calibration_is_saved_and_used():
    """Under the name given, with what it models; it is the clock at once."""
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
