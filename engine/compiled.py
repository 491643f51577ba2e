"""The decorator of every kernel, and a compilation cache that cannot go stale.

numba looks only at a kernel's own file when it decides whether a cached
compilation is still right, so a change in a callee elsewhere would be missed.
Each file's kernels are therefore kept in a folder that is named by a digest of
that file and of all it imports from the engine: a change compiles again what it
can touch, and nothing else. The folders lie in the user's own cache folder,
because cached kernels are executable code.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from numba.core import event
from numba.core.registry import CPUDispatcher
from platformdirs import user_cache_path

from engine.compilations import Compilations

ENGINE = Path(__file__).parent
KEEP_VERSIONS = 8
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"

IMPORT = re.compile(
    r"^\s*(?:from (engine[\w.]*) import (\([^)]*\)|.+)|import (engine[\w.]+))", re.MULTILINE
)


def _file_of(module: str) -> Path | None:
    """The source of `engine.x.y`; None where that is a name inside a module."""
    path = ENGINE.parent.joinpath(*module.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _imported(source: str) -> Iterator[str]:
    """What may be a module among the names that a source imports from the engine."""
    for package, names, module in IMPORT.findall(source):
        yield module or package
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", names))


@cache
def _imports(file: Path) -> tuple[bytes, frozenset[Path]]:
    """A file's contents, and the engine's files that it imports."""
    source = file.read_bytes()
    files = (_file_of(module) for module in _imported(source.decode()))
    return source, frozenset(file for file in files if file is not None)


def sources(module: str) -> list[Path]:
    """The file of a module of the engine and all that it imports there, sorted."""
    file = _file_of(module)
    known: set[Path] = set()
    new = set() if file is None else {file}
    while new:
        known |= new
        new = {imported for file in new for imported in _imports(file)[1]} - known
    return sorted(known)


@cache
def _digest(module: str) -> str:
    digest = hashlib.sha256()
    for file in sources(module):
        digest.update(_imports(file)[0])
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
    try:
        return user_cache_path("headroom", appauthor=False) / "kernels"
    except RuntimeError:  # no home, as in some containers: nothing is kept
        return Path(os.devnull) / "kernels"


@cache
def _cache_folder(module: str) -> Path:
    """Where a module's kernels are kept; versions that nobody has used for long go.

    Where it cannot be made or written, as in some containers, kernels are compiled and not kept.
    """
    root = _cache_root()
    folder = root / f"{module}-{_digest(module)}"
    with suppress(OSError):
        if not folder.is_dir():
            folder.unlink(missing_ok=True)  # whatever else lies there
            folder.mkdir(parents=True)
            _drop_old(root.glob(f"{module}-*"))
        os.utime(folder)
    return folder


def _drop_old(versions: Iterable[Path]) -> None:
    by_age = sorted(versions, key=lambda path: path.stat().st_mtime, reverse=True)
    for stale in by_age[KEEP_VERSIONS:]:
        shutil.rmtree(stale, ignore_errors=True)


class KernelPart(CPUDispatcher):
    """A compiled function without an entry for Python."""

    def __call__(self, *arguments, **named):
        raise TypeError(f"{self.py_func.__name__} is a part of kernels: declare it a kernel")


def kernel(function):
    """Compile a function for numba when it is first called, and keep the result.

    nogil: a long kernel must not freeze the other sessions of the server. Never
    parallel=True: numba's default threading layer aborts the process when two sessions
    enter it at once.
    """
    return _plain(function) if INTERPRETED else _compiled(function, CPUDispatcher)


def part(function):
    """Compile a function that only kernels call.

    What it lacks, an entry that takes a server's hundred fields out of Python objects, is
    half of what compiling a small function of a server costs.
    """
    if INTERPRETED:
        return _plain(function)
    return _compiled(function, KernelPart, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _plain(function):
    """The function as it is, for those who step through it or count its lines."""
    function.py_func = function
    return function


def _compiled(function, kind: type[CPUDispatcher], **options: bool) -> CPUDispatcher:
    dispatcher = kind(function, targetoptions={"nopython": True, "nogil": True, **options})
    dispatcher._cache = Compilations(  # type: ignore[attr-defined]  # where numba keeps its own
        function, _cache_folder(function.__module__)
    )
    return dispatcher


class _First(event.Listener):
    """Tells of the first compilation, and no more."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, event) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def on_end(self, event) -> None:
        pass


@contextmanager
def announced(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` when a kernel that is not in the cache is compiled: that takes seconds."""
    with event.install_listener("numba:compile", _First(tell)):
        yield
