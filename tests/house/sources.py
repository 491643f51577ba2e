"""The sources of the project, and what they import."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"])


def imports_of(path):
    """Every module a file names in an import, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def relative(path):
    return path.relative_to(ROOT).as_posix()


def imports(path, *packages):
    return any(
        name == package or name.startswith(f"{package}.")
        for name in imports_of(path)
        for package in packages
    )


def module_of(path):
    """`engine.a.b`; a package by its folder."""
    return relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
