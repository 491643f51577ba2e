"""The compilations of a function, each in a file of its own, of which only a whole one is read.

numba's own cache believes its files: one that was cut, as when the power fails, ends every
start in an exception, or in LLVM without one. Here a file begins with a digest of the rest and of
all that it is for; where that is wrong, the file counts as absent, and what is compiled instead
takes its place. There is no index that two processes could write at once.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

SEAL = hashlib.sha256().digest_size  # bytes at the beginning of a file


class Kernel(CPUDispatcher):
    """A function that is compiled when it is first called with arguments of these types."""


class KernelPart(Kernel):
    """A compiled function without an entry for Python."""

    def __call__(self, *arguments, **named):
        raise TypeError(f"{self.py_func.__name__} is a part of kernels: declare it a kernel")


def kernel(
    function: Callable, folder: Path, missing: Callable[[], None], **options: bool
) -> Kernel:
    """A dispatcher of numba that keeps its compilations; parameters as those of `Compilations`.

    options : of numba; without an entry for Python it is a part of other kernels
    """
    kind = KernelPart if options.get("no_cpython_wrapper") else Kernel
    dispatcher = kind(function, targetoptions={"nopython": True, "nogil": True, **options})
    dispatcher._cache = Compilations(  # type: ignore[attr-defined]  # where numba keeps its own
        function, folder, missing
    )
    return dispatcher


class Compilations(_Cache):
    """What a dispatcher of numba asks for a compilation before it compiles, and tells of it after.

    Parameters
    ----------
    function : of a module; one within another function depends on more than its source
    folder : of nothing but this version of its module; it need not be there, or be writable
    missing : called where a compilation is asked for that is not there, and will now be made
    """

    def __init__(self, function: Callable, folder: Path, missing: Callable[[], None]) -> None:
        code = function.__code__
        self._name = f"{function.__qualname__}-{code.co_firstlineno}"
        self._folder = folder
        self._missing = missing

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig, target_context) -> CompileResult | None:
        """None where it is not there, or cannot be read, whatever the reason."""
        target_context.refresh()
        kept = self._read(sig, target_context)
        if kept is None:
            self._missing()
        return kept

    def _read(self, sig, target_context) -> CompileResult | None:
        purpose = self._purpose(sig, target_context.codegen())
        try:
            kept_for, reduced = pickle.loads(_unsealed(self._file(purpose).read_bytes(), purpose))
            # Types that differ may be written alike.
            return CompileResult._rebuild(target_context, *reduced) if kept_for == sig else None
        except Exception:
            return None

    def save_overload(self, sig, data: CompileResult) -> None:
        """Keep a compilation, in one step; where that fails, it is only not kept."""
        if data.library.has_dynamic_globals:  # type: ignore[attr-defined]  # addresses in this process
            return
        purpose = self._purpose(sig, data.codegen)
        content = dumps((sig, data._reduce()))
        with suppress(OSError):
            _put(self._file(purpose), _seal(content, purpose) + content)

    def flush(self) -> None:
        for file in self._folder.glob(f"{self._name}-*"):
            file.unlink(missing_ok=True)

    def enable(self) -> None:
        raise NotImplementedError("compilations are always kept")

    disable = enable

    def _purpose(self, sig, codegen) -> bytes:
        """All that a compilation depends on, beside the sources."""
        made_by = numba.__version__, sys.implementation.cache_tag, codegen.magic_tuple()
        return repr((self._name, sig, made_by)).encode()

    def _file(self, purpose: bytes) -> Path:
        return self._folder / f"{self._name}-{hashlib.sha256(purpose).hexdigest()[:16]}"


def _seal(content: bytes, purpose: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(purpose).digest() + content).digest()


def _unsealed(whole: bytes, purpose: bytes) -> bytes:
    """The content; ValueError where it is not what was written for this purpose."""
    seal, content = whole[:SEAL], whole[SEAL:]
    if seal != _seal(content, purpose):
        raise ValueError("the file is damaged")
    return content


def _put(file: Path, whole: bytes) -> None:
    """Write a file that another process sees entirely or not at all, whatever lies in its place."""
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".new", delete=False) as new:
        try:
            new.write(whole)
            new.close()
            if file.is_dir():
                shutil.rmtree(file, ignore_errors=True)
            os.replace(new.name, file)
        except OSError:  # such as a full disk
            os.unlink(new.name)
            raise
