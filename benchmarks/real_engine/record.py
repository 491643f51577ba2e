"""Ask the real engine, in its own environment, what it does with drawn requests."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.real_engine.draw import drawn_question
from benchmarks.real_engine.install import PACKAGE, python_of

DRIVER = Path(__file__).with_name("driver.py")


def ask(folder: Path, questions: list[dict]) -> list[dict]:
    """The driver's answers.

    Raises
    ------
    subprocess.CalledProcessError
        Where vLLM fails; what it said is on stderr.
    """
    with tempfile.TemporaryDirectory() as between:
        asked, answered = Path(between, "questions.json"), Path(between, "answers.json")
        asked.write_text(json.dumps([{**question, "package": PACKAGE} for question in questions]))
        quiet = {**os.environ, "VLLM_LOGGING_LEVEL": "ERROR"}
        command = [str(python_of(folder)), str(DRIVER), str(asked), str(answered)]
        subprocess.run(command, check=True, env=quiet, stdout=subprocess.DEVNULL)
        return json.loads(answered.read_text())


def record(folder: Path, kind: str, how: str, cases: int, seeds: range) -> Iterator[dict]:
    """Sets of schedules in the form in which they are kept, one a seed.

    A process starts for every whole engine, of which it can have one.
    """
    questions = [drawn_question(kind, how, cases, seed) for seed in seeds]
    batches = [[question] for question in questions] if how == "engine" else [questions]
    for answer in (answer for batch in batches for answer in ask(folder, batch)):
        head = {name: answer[name] for name in ("engine", "how", "seed", "settings", "columns")}
        name = f"{kind}-{how}-{answer['seed']}"
        yield {"name": name, "kind": kind, **head, "cases": answer["cases"]}


def write(recorded: dict, folder: Path) -> Path:
    """One case a line."""
    path = folder / f"{recorded['name']}.json"
    head = json.dumps({name: value for name, value in recorded.items() if name != "cases"})
    cases = ",\n".join(json.dumps(case, separators=(",", ":")) for case in recorded["cases"])
    path.write_text(f'{head[:-1]}, "cases": [\n{cases}\n]}}\n')
    return path
