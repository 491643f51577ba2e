"""The cache of compiled kernels: what a change or a damage compiles again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine import METHODS, POLICIES
from engine.compiled import ENGINE, Deferred, sources

ASK = """
from engine.compiled import _digest
print(*(_digest(f"engine.{name}") for name in ("simulate.profile", "policies.wait")))
"""


def digests(checkout: Path) -> list[str]:
    asked = [sys.executable, "-c", ASK]
    return subprocess.check_output(asked, cwd=checkout, text=True).split()


def test_a_change_compiles_again_what_imports_it(tmp_path):
    """A kernel's version changes with a file it imports, at any distance, and with no other."""
    shutil.copytree(ENGINE, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ENGINE.parent / "sample_data", tmp_path / "sample_data")
    profile, wait = digests(tmp_path)
    with (tmp_path / "engine/simulate/timetable.py").open("a") as timetable:
        timetable.write("CHANGED = True\n")
    assert digests(tmp_path)[0] == profile
    assert digests(tmp_path)[1] != wait


def kernels():
    """Every kernel of the engine that importing it, its policies and its bounds brings in."""
    for name in [name for name in sys.modules if name.startswith("engine.")]:
        for value in vars(sys.modules[name]).values():
            if isinstance(value, Deferred) and value.__module__ == name:
                yield value.py_func


def test_sources_hold_every_callee():
    """Whatever kernel a kernel calls stands in one of the files that name its version."""
    assert len(POLICIES) > len(METHODS) > 0  # all are imported
    checked = 0
    for function in kernels():
        used = [function.__globals__.get(name) for name in function.__code__.co_names]
        callees = [callee.py_func for callee in used if isinstance(callee, Deferred)]
        missing = {Path(callee.__code__.co_filename) for callee in callees}
        assert not missing - set(sources(function.__module__)), function
        checked += len(callees)
    assert checked > 100


TINY = """
from engine.compiled import kernel

@kernel
def doubled(x):
    return 2 * x

@kernel
def tripled(x):
    return 3 * x

def told():
    found = [doubled(7), tripled(7)]
    return [*found, sum(sum(one.stats.cache_hits.values()) for one in (doubled, tripled))]
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A checkout of two small kernels, and a cache that holds them."""
    home = tmp_path_factory.mktemp("tiny")
    (home / "engine").mkdir()
    for file in sources("engine.compiled"):
        shutil.copy(file, home / "engine")
    (home / "engine/__init__.py").touch()
    (home / "engine/tiny.py").write_text(TINY)
    assert start(home, home / "cache") == [14, 21, 0]
    assert start(home, home / "cache") == [14, 21, 2]
    return home


def start(checkout: Path, cache: Path) -> list[int]:
    """What a new process tells: two results, and how many of them needed no compilation."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("NUMBA_CACHE_DIR", None)
    asked = [sys.executable, "-c", "from engine.tiny import told; print(*told())"]
    told = subprocess.check_output(asked, cwd=checkout, env=environment, text=True)
    return [int(number) for number in told.split()]


def files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def become_folder(file: Path) -> None:
    file.unlink()
    (file / "lost").mkdir(parents=True)


def wipe_code(file: Path) -> None:
    """Zeros amid the object code: what pickle reads happily, and LLVM must never see."""
    whole = file.read_bytes()
    at = whole.find(b"\x7fELF") + 64
    file.write_bytes(whole[:at] + bytes(400) + whole[at + 400 :])


DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "a byte short": lambda file: os.truncate(file, file.stat().st_size - 1),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "text": lambda file: file.write_text("garbage"),
    "code": wipe_code,
    "folder": become_folder,
    "unreadable": lambda file: file.chmod(0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_compiled_again(damage, tiny, tmp_path):
    """Every file of the cache; the start after the next finds it whole."""
    if damage == "unreadable" and os.geteuid() == 0:
        pytest.skip("root reads everything")
    shutil.copytree(tiny / "cache", tmp_path / "cache")
    for file in files(tmp_path):
        DAMAGES[damage](file)
    assert start(tiny, tmp_path / "cache") == [14, 21, 0]
    assert start(tiny, tmp_path / "cache") == [14, 21, 2]
    assert len(files(tmp_path)) == len(files(tiny / "cache"))


def test_a_file_that_is_anothers_is_not_used(tiny, tmp_path):
    """Two whole files that have changed places, as a repaired disk may have them."""
    shutil.copytree(tiny / "cache", tmp_path / "cache")
    *_, one = files(tmp_path)
    other = next(file for file in files(tmp_path) if file.suffix == one.suffix)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    assert start(tiny, tmp_path / "cache") == [14, 21, 0]


def test_a_file_where_the_folder_belongs(tiny, tmp_path):
    """It goes, and the kernels are kept in its place."""
    (folder,) = (tiny / "cache/headroom/kernels").iterdir()
    (tmp_path / "headroom/kernels").mkdir(parents=True)
    (tmp_path / "headroom/kernels" / folder.name).write_text("garbage")
    assert start(tiny, tmp_path) == [14, 21, 0]
    assert start(tiny, tmp_path) == [14, 21, 2]


def test_no_place_to_keep_kernels(tiny):
    """They are compiled at every start."""
    assert start(tiny, tiny / "engine/tiny.py") == [14, 21, 0]
