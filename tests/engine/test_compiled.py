"""The cache of compiled kernels: what a change of a source compiles again."""

import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from engine.compiled import ENGINE, sources
from engine.policy import load_policies

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
            if isinstance(value, Dispatcher) and value.__module__ == name:
                yield value.py_func


def test_sources_hold_every_callee():
    """Whatever kernel a kernel calls stands in one of the files that name its version."""
    load_policies()
    checked = 0
    for function in kernels():
        used = [function.__globals__.get(name) for name in function.__code__.co_names]
        callees = [callee.py_func for callee in used if isinstance(callee, Dispatcher)]
        missing = {Path(callee.__code__.co_filename) for callee in callees}
        assert not missing - set(sources(function.__module__)), function
        checked += len(callees)
    assert checked > 100
