"""The user's own data have one folder, where they or their system want it."""

from pathlib import Path

import pytest

from engine import InputError, user_data


def test_named_folder(tmp_path, monkeypatch):
    """HEADROOM_HOME names it, ~ included, and it is made."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path / "a" / "b"))
    assert user_data.folder() == tmp_path / "a" / "b"
    assert user_data.folder().is_dir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HEADROOM_HOME", "~/mine")
    assert user_data.folder() == tmp_path / "mine"


@pytest.mark.parametrize(
    ("platform", "settings", "place"),
    [
        ("linux", {}, "home/.local/share/headroom"),
        ("linux", {"XDG_DATA_HOME": "xdg"}, "xdg/headroom"),
        ("darwin", {}, "home/Library/Application Support/headroom"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/headroom"),
        ("win32", {}, "home/AppData/Local/headroom"),
    ],
)
def test_folder_of_the_system(tmp_path, monkeypatch, platform, settings, place):
    """Without HEADROOM_HOME each system has its own."""
    for name in ("HEADROOM_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert user_data.folder() == tmp_path / place


def test_folder_that_cannot_be_made(tmp_path, monkeypatch):
    """Is one sentence that names it and the way out."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"cannot be kept in .*file: .*set HEADROOM_HOME"):
        user_data.folder()


def test_service_without_a_home(monkeypatch):
    """Can keep nothing until it is told where; what is kept elsewhere is just not there."""

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("HEADROOM_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert not user_data.place().exists()
    with pytest.raises(InputError, match="set HEADROOM_HOME"):
        user_data.folder()
