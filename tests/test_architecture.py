"""The house rules that the folder tree promises (DESIGN 10)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"])


def imports_of(path):
    """Every module a file names in an import, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def relative(path):
    return path.relative_to(ROOT).as_posix()


def imports(path, *packages):
    return any(
        name == package or name.startswith(f"{package}.")
        for name in imports_of(path)
        for package in packages
    )


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_point_one_way(path):
    """pages -> parts -> figures -> metrics -> policies, bounds -> simulate -> workload."""
    name = relative(path)
    if name.startswith("engine/"):
        assert not imports(path, "streamlit", "pages", "app")
    if not name.startswith("engine/figures/"):
        assert not imports(path, "plotly")
    if name.startswith("engine/simulate/"):
        assert not imports(
            path, "engine.policy", "engine.policies", "engine.bound", "engine.bounds",
            "engine.metrics", "engine.figures", "engine.league",
        )  # fmt: skip
    if name.startswith(("engine/policies/", "engine/bounds/", "engine/batches/", "engine/dual/")):
        assert not imports(path, "engine.figures", "engine.league", "engine.cli")
    if name in ("engine/workload.py", "engine/scenario.py"):
        assert not imports(path, "engine.simulate", "engine.policy", "engine.metrics")
    if not name.startswith("engine/cli/"):
        assert not imports(path, "argparse")


def test_importing_the_engine_is_cheap():
    """Solvers and plotly are imported only by what uses them."""
    code = (
        "import sys, engine; "
        "print([m for m in ('pulp', 'highspy', 'scipy.optimize', 'plotly', 'streamlit') "
        "if m in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("path", [ROOT / "app.py", *ROOT.glob("pages/*.py")], ids=relative)
def test_pages_are_layout(path):
    """A page is short and does no arithmetic of its own."""
    tree = ast.parse(path.read_text())
    assert len(path.read_text().splitlines()) <= 90
    assert not any(isinstance(node, ast.BinOp) for node in ast.walk(tree))
    assert not imports(path, "numpy", "pandas")


def test_top_level_is_what_was_agreed():
    """Nothing joins the top level unnoticed."""
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    top = {name.split("/")[0] for name in tracked}
    assert top <= {
        "app.py", "pages", "engine", "sample_data", "tests", "benchmarks", "requirements.txt",
        ".streamlit", "README.md", "docs", "pyproject.toml", ".ci", ".gitignore",
    }  # fmt: skip
