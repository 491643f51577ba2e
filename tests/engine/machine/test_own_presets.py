"""Presets of the user's own are kept, found again, renamed and deleted; none is ever lost."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.database import connected
from engine.machine import own_presets
from engine.machine.clock import seconds_clock
from engine.machine.hardware import find_preset, presets, shipped_presets
from engine.machine.preset import Preset, preset_of, record_of
from engine.saved import Keeping, Snapshot
from tests.engine.saved.test_saved import WHY, server  # noqa: F401
from tests.services import postgres

ROOT = Path(__file__).resolve().parents[3]
PRESET = Preset(
    key="",
    title="My server",
    model="llama-3-8b",
    gpu="a100-80gb",
    tensor_parallel=2,
    clock=seconds_clock(0.1 + 0.2, 1 / 3, 90, 5.7e-8, 4e-5),
    error_percent=3.25,
    fit="fitted to 100 rounds of bench.json",
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.delenv("HEADROOM_DATABASE", raising=False)
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    return tmp_path


def test_saved_preset_is_found_again():
    """Bit for bit, by key and by name, beside those of the project."""
    kept = own_presets.save(PRESET)
    assert kept == replace(PRESET, key="own-my-server")
    assert presets() == shipped_presets() | {kept.key: kept}
    assert find_preset("own-my-server") == find_preset("my SERVER") == kept


def test_another_process_sees_it():
    """It survives a restart."""
    own_presets.save(PRESET)
    found = "from engine.machine.hardware import find_preset as find"
    code = f"{found}; print(find('My server').clock.step.c0)"
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert float(said.stdout) == PRESET.clock.step.c0


def test_presets_are_records_and_back():
    """Those of the project too."""
    for preset in shipped_presets().values():
        assert preset_of(json.loads(json.dumps(record_of(preset)))) == preset


def test_sessions_that_save_under_one_name_lose_nothing():
    """Thirty at the same time: thirty presets with names of their own."""
    fits = [f"fit {number}" for number in range(30)]
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda fit: own_presets.save(replace(PRESET, fit=fit)), fits))
    assert sorted(preset.fit for preset in own_presets.own_presets().values()) == sorted(fits)
    titles = {preset.title for preset in kept}
    assert titles == {"My server", *(f"My server ({number})" for number in range(2, 31))}


def test_rename():
    """Another name is another key; a name that is taken gets a number; case alone may change."""
    first, second = own_presets.save(PRESET), own_presets.save(replace(PRESET, title="Other"))
    assert own_presets.rename(second.key, "my server").title == "my server (2)"
    assert own_presets.rename(first.key, "MY  Server") == replace(first, title="MY Server")
    assert set(own_presets.own_presets()) == {"own-my-server", "own-my-server-2"}


def test_delete():
    """It is gone; what is not there, or comes with the project, cannot be deleted."""
    key = own_presets.save(PRESET).key
    own_presets.delete(key)
    assert presets() == shipped_presets()
    for other in (key, "llama-2-70b-a100-tp4", "../../own-x"):
        with pytest.raises(InputError, match="no preset of yours with the key"):
            own_presets.delete(other)
        with pytest.raises(InputError, match="no preset of yours with the key"):
            own_presets.rename(other, "new")


@pytest.mark.parametrize("title", ["", "  ", "-_-", "x" * 51, "a\0b", "\u202ea"])
def test_bad_names(title):
    """Are refused, and nothing is kept."""
    with pytest.raises(InputError, match="name"):
        own_presets.save(replace(PRESET, title=title))
    assert own_presets.own_presets() == {}


@given(st.text(min_size=1, max_size=50))
def test_any_name_is_kept_or_refused(title):
    """A title comes back as it was, but for its spaces, or is refused; never anything else."""
    try:
        kept = own_presets.save(replace(PRESET, title=title))
    except InputError:
        return
    assert own_presets.own_presets()[kept.key] == kept
    assert find_preset(kept.title) == kept
    own_presets.delete(kept.key)


def test_a_database_that_is_not_there(monkeypatch):
    """Saving is one sentence, and reading goes on without presets of one's own."""
    monkeypatch.setenv("HEADROOM_DATABASE", "postgresql://me:secret@127.0.0.1:9/none")
    with pytest.raises(InputError, match="does not answer"):
        own_presets.save(PRESET)
    assert presets() == shipped_presets()
    (told,) = own_presets.unreadable()
    assert "does not answer" in told
    with pytest.raises(InputError, match="does not answer"):
        find_preset("mine")
    assert find_preset("llama-2-70b-a100-tp4")


def test_reading_leaves_no_trace(home, monkeypatch):
    """Nothing is made where nothing is saved."""
    monkeypatch.setenv("HEADROOM_HOME", str(home / "new"))
    assert presets() == shipped_presets()
    assert not (home / "new").exists()


@pytest.mark.skipif(not postgres.is_there(), reason=WHY)
def test_a_team_shares_them(server, home, monkeypatch):  # noqa: F811
    """Whoever names the same database sees them, whatever folder their own data are in."""
    monkeypatch.setenv("HEADROOM_DATABASE", server.url)
    kept = own_presets.save(PRESET)
    monkeypatch.setenv("HEADROOM_HOME", str(home / "another planner"))
    assert own_presets.own_presets() == {kept.key: kept}
    connected().close()
    monkeypatch.delenv("HEADROOM_DATABASE")
    assert own_presets.own_presets() == {}


def test_views_of_the_same_name():
    """Each kind has names of its own."""
    kept = own_presets.save(PRESET)
    view = Keeping(connected()).save(kept.key, Snapshot("Latency", {}, "five", {}))
    assert view.name == kept.key
    assert own_presets.own_presets() == {kept.key: kept}
    Keeping(connected()).delete(view.id)
    assert own_presets.own_presets() == {kept.key: kept}
