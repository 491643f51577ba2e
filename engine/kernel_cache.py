"""numba's cache of compiled kernels, with files that are sealed: what is damaged counts as absent.

numba trusts what it finds: garbage in one file, as after a power cut or on a full disk, ends every
start in a traceback, and machine code with a wrong byte would run. So each file begins with the
digest of the rest. One that does not hold it, or cannot be read, is dropped and its kernel
compiled again; one that cannot be written is not kept.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

SEAL = hashlib.sha256().digest_size  # bytes


class Damaged(Exception):
    """A file that is not what was written."""


def sealed(content: bytes) -> bytes:
    """The content after its digest."""
    return hashlib.sha256(content).digest() + content


def unsealed(stored: bytes) -> bytes:
    """The content of what `sealed` made; Damaged where it is not that."""
    content = stored[SEAL:]
    if hashlib.sha256(content).digest() != stored[:SEAL]:
        raise Damaged
    return content


class SealedFiles(IndexDataCacheFile):
    """An index and the data files that it names, each sealed."""

    def _load_index(self) -> dict:
        stored = self._read(self._index_path)
        if stored is None:
            return {}
        version, stamp, overloads = stored
        same = version == self._version and stamp == self._source_stamp
        return overloads if same else {}

    def _save_index(self, overloads: dict) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        """What was written there; None, and the place free, where that cannot be had."""
        try:
            return pickle.loads(unsealed(Path(path).read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, Damaged):
            drop(Path(path))
            return None

    def _write(self, path: str, content: Any) -> None:
        """Nothing where it cannot be written: the next process compiles once more."""
        with suppress(OSError), self._open_for_write(path) as file:
            file.write(sealed(self._dump(content)))


def drop(path: Path) -> None:
    """Remove a file, or whatever stands in its place; another process may be quicker."""
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


class KernelCache(FunctionCache):
    """The cache of one kernel."""

    def __init__(self, py_func) -> None:
        super().__init__(py_func)
        self._cache_file = SealedFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
