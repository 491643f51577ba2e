"""The decorator of every kernel, and a compilation cache that cannot go stale.

numba looks only at a kernel's own file when it decides whether a cached
compilation is still right, so a change in a callee elsewhere would be missed.
The cache folder is therefore named by a digest of all engine sources. It lies
in the user's own cache folder, because cached kernels are executable code.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KEEP_CACHES = 4


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:  # a read-only home, as in some containers
        return Path(tempfile.mkdtemp(prefix="headroom-"))
    return home


def _cache_folder() -> Path:
    root = _cache_root()
    folder = root / f"kernels-{_sources_digest()}"
    folder.mkdir(exist_ok=True)
    folder.touch()
    by_age = sorted(root.glob("kernels-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for stale in by_age[KEEP_CACHES:]:
        shutil.rmtree(stale, ignore_errors=True)
    return folder


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(_cache_folder())

import numba  # noqa: E402  (the cache folder must be set first)
from numba.core import event  # noqa: E402

# nogil: a long kernel must not freeze the other sessions of the server.
# Never parallel=True: numba's default threading layer aborts the process when
# two sessions enter it at once.
kernel = numba.njit(cache=True, nogil=True)


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
