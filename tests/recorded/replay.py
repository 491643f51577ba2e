"""One command after another in this process: what each says, and the files that it writes."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

INPUTS = Path(__file__).parent / "inputs"
ELSEWHERE = ("HEADROOM_DATABASE", "HEADROOM_SCHEDULER", "COLUMNS")  # the last: of a terminal

# What differs from run to run, and is left out.
BY_THE_CLOCK = {
    "whether kernels had to be compiled": re.compile(
        r"^compiling the engine \(first use\)\n", re.M
    ),
    "how far an audit is after a second": re.compile(r"^ *\d+ %  .*\n", re.M),
}
OF_PAGES = {
    "the library of charts": re.compile(r"<script>/\*\*\n\* plotly\.js .*?</script>", re.S),
    "random names of charts": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "which engine made it": re.compile(r"(?<=<td>)[0-9a-f]{12}(?=</td>)"),
}

OWN = "own"  # folder of the database with the presets that a command saves, which `hardware` prints


@contextmanager
def workplace() -> Iterator[Path]:
    """A new folder with the inputs, in which commands run and find no data of anybody's own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "here"
        shutil.copytree(INPUTS, place)
        here = {name: text for name, text in os.environ.items() if name not in ELSEWHERE}
        here["HEADROOM_HOME"] = str(place / OWN)
        with patch.dict(os.environ, here, clear=True), chdir(place):
            yield place


def replay(command: str, place: Path) -> dict:
    """What a command of `commands` does in a workplace, which is left as it was found.

    Returns
    -------
    {"steps": [{"exit", "stdout", "stderr"}, ..], "files": {name: content}}
    """
    before = _files(place)
    steps = [_step(shlex.split(step)) for step in command.split(" && ")]
    after = _files(place)
    written = {name: text for name, text in after.items() if before.get(name) != text}
    for name in written:
        if name in before:
            shutil.copyfile(INPUTS / name, place / name)
        else:
            (place / name).unlink()
    shutil.rmtree(place / OWN, ignore_errors=True)
    return {"steps": steps, "files": {name: _without(OF_PAGES, written[name]) for name in written}}


def _step(words: list[str]) -> dict:
    from engine.cli import main

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    told = err.getvalue()
    return {"exit": code, "stdout": out.getvalue(), "stderr": _without(BY_THE_CLOCK, told)}


def _files(place: Path) -> dict[str, str]:
    own = place / OWN
    files = sorted(p for p in place.rglob("*") if p.is_file() and own not in p.parents)
    return {path.relative_to(place).as_posix(): path.read_bytes().decode() for path in files}


def _without(patterns: dict[str, re.Pattern], text: str) -> str:
    for pattern in patterns.values():
        text = pattern.sub("", text)
    return text
