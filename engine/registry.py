"""What stands in a folder is known: every file of it is imported, so that each registers itself."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules_in(folder: ModuleType) -> list[ModuleType]:
    """Every file of a package, imported, in the order of their names."""
    return [
        importlib.import_module(f"{folder.__name__}.{module.name}")
        for module in pkgutil.iter_modules(folder.__path__)
    ]
