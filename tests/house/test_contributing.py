"""The recipes work as they stand: all of them followed literally, in a copy of the project."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = (ROOT / "CONTRIBUTING.md").read_text()
FILE = re.compile(r"`([\w/]+\.py)`:\n\n```python\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project with what every recipe adds."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("engine", "pages", "sample_data"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "app.py", folder)
    for name, source in FILE.findall(RECIPES):
        assert not (folder / name).exists()
        (folder / name).write_text(source)
    (gpu,) = re.findall(r"```csv\n(.*?)```", RECIPES, re.DOTALL)
    with (folder / "sample_data" / "gpus.csv").open("a") as table:
        table.write(gpu)
    (metric,) = re.findall(r"```\n(    Metric\(.*?)```", RECIPES, re.DOTALL)
    metrics = folder / "engine" / "measure" / "metrics.py"
    metrics.write_text(metrics.read_text().replace("_ROWS = (\n", f"_ROWS = (\n{metric}"))
    return folder


def python(copy, *arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=copy, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip


def test_every_recipe_has_its_file():
    folders = {name.rpartition("/")[0] for name, _ in FILE.findall(RECIPES)}
    assert folders == {"engine/policies", "engine/bounds", "engine/traces/formats", "pages"}


def test_policy_bound_metric_and_layout(copy):
    """The new layout's example is read, run by the new policy, measured by the new bound."""
    example = "from engine.traces.formats.gateway import EXAMPLE; print(EXAMPLE, end='')"
    (copy / "day.csv").write_text(python(copy, "-c", example))
    command = "simulate day.csv --memory 420 --policy lean-prompt --bound outputs --format json"
    result = json.loads(python(copy, "-m", "engine", *command.split()))
    (row,) = result["policies"]
    assert row["policy"] == "lean-prompt"
    assert result["bounds"][0]["value"] == 84
    assert row["gap"] >= 1
    assert row["longest_ttft"] > 0
    report = json.loads(python(copy, "-m", "engine", "import", "day.csv", "--format", "json"))
    assert report["format"] == "gateway log"


def test_page(copy):
    """It is in the navigation, in its place, and draws a number a policy."""
    code = "from pages.parts.declared import declared_pages; print(declared_pages()[-1].title)"
    assert python(copy, "-c", code).strip() == "Longest"
    shown = (
        "from streamlit.testing.v1 import AppTest; "
        "page = AppTest.from_file('app.py', default_timeout=300).run(); "
        "page.switch_page('pages/10_Longest.py').run(); "
        "print([each.message for each in page.exception], len(page.metric))"
    )
    assert python(copy, "-c", shown).split("\n")[-2] == "[] 6"


def test_gpu(copy):
    """It has memory and a price."""
    code = (
        "from engine.capacity.cost import prices; from engine.machine.hardware import gpus; "
        "print(gpus()['b200-180gb'].memory_gib, prices()['b200-180gb'])"
    )
    assert python(copy, "-c", code).split() == ["180.0", "6.0"]
