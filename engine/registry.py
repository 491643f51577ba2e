"""What stands in a folder is known: every file of it is imported, so that each registers itself."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules_in(package: str) -> list[ModuleType]:
    """Every file of a package, imported, in the order of their names."""
    folder = importlib.import_module(package)
    return [
        importlib.import_module(f"{package}.{module.name}")
        for module in pkgutil.iter_modules(folder.__path__)
    ]
