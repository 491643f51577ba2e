"""The decorator of every kernel, and a compilation cache that cannot go stale.

numba looks only at a kernel's own file when it decides whether a cached
compilation is still right, so a change in a callee elsewhere would be missed.
Each file's kernels are therefore kept in a folder that is named by a digest of
that file and of all it imports from the engine: a change compiles again what it
can touch, and nothing else. The folders lie in the user's own cache folder,
because cached kernels are executable code.

numba itself is imported when the first kernel is called: what only lists or reads never waits
for it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

if TYPE_CHECKING:
    from engine.compilations import Kernel

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


class Deferred:
    """A function that numba compiles, and that numba is imported for only when it is first used.

    Parameters
    ----------
    options : of `engine.compilations.kernel`
    """

    _making = threading.Lock()

    def __init__(self, function: Callable, **options: bool) -> None:
        if function.__closure__:
            raise TypeError(f"{function.__qualname__} closes over names: declare it in a module")
        self.py_func = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self._options = options
        self._kernel: Kernel | None = None

    def __call__(self, *arguments, **named):
        return (self._kernel or self.kernel)(*arguments, **named)

    @property
    def kernel(self) -> Kernel:
        """What numba makes of it."""
        from engine.compilations import kernel  # which imports numba

        with self._making:
            if self._kernel is None:
                folder = _cache_folder(self.py_func.__module__)
                self._kernel = kernel(self.py_func, folder, _tell_of_compiling, **self._options)
            return self._kernel

    @property
    def _numba_type_(self):
        """What numba asks of a name that a kernel reads."""
        return self.kernel._numba_type_  # type: ignore[attr-defined]  # numba has no types

    def __getattr__(self, name: str):
        """All else that a dispatcher of numba tells, such as its statistics."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.kernel, name)


def kernel(function):
    """Compile a function for numba when it is first called, and keep the result.

    nogil: a long kernel must not freeze the other sessions of the server. Never
    parallel=True: numba's default threading layer aborts the process when two sessions
    enter it at once.
    """
    return _plain(function) if INTERPRETED else Deferred(function)


def part(function):
    """Compile a function that only kernels call.

    What it lacks, an entry that takes a server's hundred fields out of Python objects, is
    half of what compiling a small function of a server costs.
    """
    if INTERPRETED:
        return _plain(function)
    return Deferred(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _plain(function):
    """The function as it is, for those who step through it or count its lines."""
    function.py_func = function
    return function


_LISTENERS: list[list[Callable[[], None]]] = []  # each to be told once: emptied then


def _tell_of_compiling() -> None:
    for waiting in list(_LISTENERS):
        while waiting:
            waiting.pop()()


@contextmanager
def announced(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` when a kernel that is not in the cache is compiled: that takes seconds."""
    waiting = [tell]
    _LISTENERS.append(waiting)
    try:
        yield
    finally:
        _LISTENERS[:] = [other for other in _LISTENERS if other is not waiting]
