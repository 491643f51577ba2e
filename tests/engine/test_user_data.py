"""The user's own data have one folder, where they or their system want it."""

import os

import pytest

from engine import InputError, compiled, user_data

ELSEWHERE = ("HEADROOM_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
on_linux = pytest.mark.skipif(not os.path.isdir("/proc"), reason="other systems have other places")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Of a user who has set nothing."""
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_named_folder(home, monkeypatch):
    """HEADROOM_HOME names it, ~ included, and it is made."""
    monkeypatch.setenv("HEADROOM_HOME", str(home / "a" / "b"))
    assert user_data.folder() == home / "a" / "b"
    assert user_data.folder().is_dir()
    monkeypatch.setenv("HEADROOM_HOME", "~/mine")
    assert user_data.folder() == home / "mine"


@on_linux
def test_folder_of_the_system(home, monkeypatch):
    """What users of earlier versions kept stays where it was."""
    assert user_data.folder() == home / ".local" / "share" / "headroom"
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "xdg"))
    assert user_data.folder() == home / "xdg" / "headroom"


@on_linux
def test_folder_of_kernels(home, monkeypatch):
    """They are found again by the next version of the program."""
    root = compiled._cache_root
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert root() == home / ".cache" / "headroom" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert root() == home / "xdg" / "headroom" / "kernels"


def test_folder_that_cannot_be_made(home, monkeypatch):
    """Is one sentence that names it and the way out."""
    (home / "file").write_text("")
    monkeypatch.setenv("HEADROOM_HOME", str(home / "file"))
    with pytest.raises(InputError, match=r"cannot be kept in .*file: .*set HEADROOM_HOME"):
        user_data.folder()


@on_linux
def test_service_without_a_home(home, monkeypatch):
    """Can keep nothing until it is told where; what is kept elsewhere is just not there."""

    def nobody(uid):
        raise KeyError(uid)

    monkeypatch.delenv("HOME")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert not user_data.place().exists()
    with pytest.raises(InputError, match="set HEADROOM_HOME"):
        user_data.folder()
    assert not compiled._cache_root().exists()
