"""What the README shows is true: its Python runs, its commands are those that exist."""

import re
import shlex
from pathlib import Path

from engine import POLICIES
from engine.cli import main
from pages.parts.declared import declared_pages

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def test_python_example_runs(capsys):
    """The ten lines print a mean and a gap a policy, svf before the others."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(example, "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    gaps = [float(line.rpartition(" ")[2]) for line in lines]
    assert [line.partition(":")[0] for line in lines] == ["svf", "mc-sf", "vllm"]
    assert 1 < gaps[0] < gaps[1] < gaps[2]


def test_commands_run(tmp_path, monkeypatch, capsys):
    """Every line for the engine, in order, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^\.venv/bin/python -m engine (.*)$", README, re.M)
    assert len(commands) >= 5
    for command in commands:
        assert main(shlex.split(command)) == 0, command
    assert "svf" in capsys.readouterr().out


def test_pages_are_listed():
    """With the question that each answers."""
    for declared in declared_pages():
        assert f"| {declared.title} |" in README


def test_shown_policy_works():
    """The file that adds a policy is accepted as it stands."""
    (example,) = re.findall(r"```\n(from engine.policy.*?)```", README, re.S)
    try:
        exec(compile(example, "README.md", "exec"), {})
        assert "lean-prompt" in POLICIES
    finally:
        POLICIES.pop("lean-prompt", None)
