"""Record what the commands say, or compare two recordings: a restructuring must change nothing.

    python tests/recorded RECORDING.json            in a checkout: run all and write what was said
    python tests/recorded BEFORE.json AFTER.json    compare byte by byte

The engine is that of the folder in which it is called, so one program records any version.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(1, os.getcwd())

from commands import COMMANDS, FILES  # noqa: E402


def said(command: str, folder: Path) -> dict:
    """What one command prints, its exit code, and the files that it writes."""
    from engine.cli import main

    before = set(folder.iterdir())
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command.split())
    written = {file.name: file.read_text() for file in sorted(set(folder.iterdir()) - before)}
    return {"code": code, "out": out.getvalue(), "err": err.getvalue(), "files": written}


def record() -> dict[str, dict]:
    """Every command in one empty folder, in order: later ones read what earlier ones wrote."""
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in FILES.items():
            (folder / file).write_text(content)
        os.environ["HEADROOM_HOME"] = str(folder / "home")
        os.chdir(folder)
        try:
            return {command: said(command, folder) for command in COMMANDS}
        finally:
            os.chdir(back)


def differences(before: dict, after: dict) -> list[str]:
    """One line for every command that says something else."""
    lines = []
    for command in sorted({*before, *after}):
        one, other = before.get(command), after.get(command)
        if one == other:
            continue
        if one is None or other is None:
            lines.append(f"only {'after' if one is None else 'before'}: {command}")
            continue
        where = next(name for name in one if one[name] != other[name])
        lines.append(f"{where}: {command}\n    {_first(str(one[where]), str(other[where]))}")
    return lines


def _first(one: str, other: str) -> str:
    at = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    begin = max(0, at - 60)
    return f"{one[begin : at + 60]!r}\n    {other[begin : at + 60]!r}"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        both = [json.loads(Path(name).read_text()) for name in sys.argv[1:]]
        found = differences(*both)
        print("\n".join(found) or f"{len(both[0])} commands say the same")
        sys.exit(bool(found))
    Path(sys.argv[1]).write_text(json.dumps(record(), indent=1))
