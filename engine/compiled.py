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

# nogil: a long kernel must not freeze the other sessions of the server.
# Never parallel=True: numba's default threading layer aborts the process when
# two sessions enter it at once.
kernel = numba.njit(cache=True, nogil=True)
