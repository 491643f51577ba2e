"""What the README shows is true: its Python runs, its commands are those that exist."""

import re
import shlex
from pathlib import Path

import pytest

from engine.cli import main
from pages.parts.declared import declared_pages

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_python_example_runs(capsys):
    """The ten lines print a mean and a gap a policy, the best first."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    gaps = [float(line.rpartition(" ")[2]) for line in lines]
    assert [line.partition(":")[0] for line in lines] == ["svf skip=5", "svf", "mc-sf", "vllm"]
    assert gaps[0] > 1
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("document", ["README.md", "docs/model.md"])
def test_commands_run(document, tmp_path, monkeypatch, capsys):
    """Every line for the engine, in order, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / document).read_text()
    commands = re.findall(r"^\.venv/bin/python -m engine (.*)$", text, re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        assert main(shlex.split(command)) == 0, command
    assert "svf" in capsys.readouterr().out


def test_pages_are_listed():
    """With the question that each answers."""
    for declared in declared_pages():
        assert f"| {declared.title} | {declared.question} |" in README


def test_folders_are_listed():
    """Every room of the engine is in the table of folders, and every folder there exists."""
    _, _, table = README.partition("| folder | what is in it |\n|---|---|\n")
    rows = table.partition("\n\n")[0].splitlines()
    listed = {name for row in rows for name in re.findall(r"`([\w/]+)`", row.split("|")[1])}
    rooms = {f"engine/{path.parent.name}" for path in ROOT.glob("engine/*/__init__.py")}
    assert {name for name in listed if name.startswith("engine/")} == rooms
    assert all((ROOT / name).is_dir() for name in listed)
