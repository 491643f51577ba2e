"""What stands in a folder is known: every file of it is imported, so that each registers itself."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Iterator, MutableMapping
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def modules_in(package: str) -> list[ModuleType]:
    """Every file of a package, imported, in the order of their names."""
    folder = importlib.import_module(package)
    return [
        importlib.import_module(f"{package}.{module.name}")
        for module in pkgutil.iter_modules(folder.__path__)
    ]


class Registry(MutableMapping[str, T]):
    """What the files of a package declare, by key, sorted; imported by whoever looks first.

    Parameters
    ----------
    kind : what they are called in a message, such as "policies"
    """

    def __init__(self, package: str, kind: str) -> None:
        self._package, self._kind = package, kind
        self._declared: dict[str, T] = {}
        self._is_whole = False
        self._whole = threading.RLock()

    def __setitem__(self, key: str, declared: T) -> None:
        """Declare; ValueError where the key is taken."""
        if key in self._declared:
            raise ValueError(f"two {self._kind} are called {key}")
        self._declared[key] = declared
        self._declared = dict(sorted(self._declared.items()))

    def __delitem__(self, key: str) -> None:
        del self._declared[key]

    def _all(self) -> dict[str, T]:
        if not self._is_whole:
            with self._whole:
                modules_in(self._package)
                self._is_whole = True
        return self._declared

    def __getitem__(self, key: str) -> T:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
