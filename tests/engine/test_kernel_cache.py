"""A damaged cache of kernels is compiled anew, and heals: no start ends in a traceback."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.kernel_cache import Damaged, drop, sealed, unsealed

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
from engine.compiled import kernel


@kernel
def twice(x):
    return 2 * x
"""
RUN = """
import json, sys
sys.path.insert(0, {folder!r})
from tiny import twice
value = twice(21)
print(json.dumps([value, sum(twice.stats.cache_hits.values())]))
"""
DAMAGES = {
    "garbage": lambda content: b"\x80garbage" + bytes(range(200)),
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "one byte": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "of numba itself": lambda content: content[32:],  # unsealed, as an older version wrote it
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.py").write_text(MODULE)
    return folder


def run(tiny, cache):
    """What the kernel returns in a new process, and whether it came out of the cache."""
    environment = {"NUMBA_CACHE_DIR": str(cache), "PATH": "", "HOME": str(cache)}
    said = subprocess.run(
        [sys.executable, "-c", RUN.format(folder=str(tiny))],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


@pytest.fixture(scope="module")
def compiled(tiny, tmp_path_factory):
    cache = tmp_path_factory.mktemp("compiled")
    assert run(tiny, cache) == [42, 0]
    return cache


@pytest.fixture
def cache(compiled, tmp_path):
    """A cache that holds the kernel, to be damaged."""
    return shutil.copytree(compiled, tmp_path / "cache")


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [*DAMAGES, "folder"])
def test_a_damaged_file_is_compiled_again(tiny, cache, suffix, damage):
    """Right at once, and out of the cache the time after."""
    (file,) = cache.rglob(f"*.{suffix}")
    if damage == "folder":
        file.unlink()
        (file / "inside").mkdir(parents=True)
    else:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert run(tiny, cache) == [42, 0]
    assert run(tiny, cache) == [42, 1]


def test_an_index_without_its_data(tiny, cache):
    """The file that it names is gone."""
    for file in cache.rglob("*.nbc"):
        file.unlink()
    assert run(tiny, cache) == [42, 0]
    assert run(tiny, cache) == [42, 1]


def test_a_seal_holds_every_byte():
    """Whatever is changed is noticed."""
    content = bytes(range(256))
    assert unsealed(sealed(content)) == content
    for at in range(0, len(sealed(content)), 7):
        stored = bytearray(sealed(content))
        stored[at] ^= 0x10
        with pytest.raises(Damaged):
            unsealed(bytes(stored))


def test_dropping_what_is_gone_is_no_error(tmp_path):
    """Another process may have been quicker."""
    drop(tmp_path / "nothing")
