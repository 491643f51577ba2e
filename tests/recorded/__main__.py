"""`python -m tests.recorded`: record what the commands of a checkout do, and compare."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.recorded import recording
from tests.recorded.commands import commands, kept
from tests.recorded.difference import differences


def main() -> int:
    arguments = _arguments()
    if arguments.task == "record":
        lines = kept() if arguments.kept else commands()
        found = _done(lines, arguments.checkout, arguments.only, arguments.times)
        recording.write(found, arguments.file)
        print(f"{arguments.file}: {len(found)} commands", file=sys.stderr)
        return 0
    before = _chosen(recording.read(arguments.before), arguments.only)
    if arguments.after is None:
        after = _done(list(before), arguments.checkout)
    else:
        after = _chosen(recording.read(arguments.after), arguments.only)
    found = list(differences(before, after))
    print("\n".join([*found, f"{len(found)} of {len(before | after)} commands differ"]))
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded", description=__doc__)
    tasks = parser.add_subparsers(dest="task", required=True)
    record = tasks.add_parser("record", help="write what every command does to a file")
    record.add_argument("file", type=Path, metavar="FILE", help="JSON, packed if named .xz")
    record.add_argument("--kept", action="store_true", help="only what the tests are held to")
    record.add_argument("--times", action="store_true", help="print what each command takes")
    compare = tasks.add_parser("compare", help="print where two recordings differ; exit code 1")
    compare.add_argument("before", type=Path, metavar="BEFORE")
    compare.add_argument("after", type=Path, nargs="?", metavar="AFTER", help="or else, run now")
    for task in (record, compare):
        task.add_argument("--only", default="", metavar="TEXT", help="the commands that hold it")
        task.add_argument(
            "--checkout", type=Path, default=Path(), metavar="FOLDER", help="whose engine (this)"
        )
    return parser.parse_args()


def _done(lines, checkout: Path, only: str = "", times: bool = False) -> recording.Recording:
    """What the engine of a checkout does at those of the lines that hold `only`."""
    recording.use(checkout)
    told = _Times() if times else _silent
    found = recording.record([line for line in lines if only in line], told)
    told("")
    return found


def _silent(_line: str) -> None:
    pass


class _Times:
    """Prints the processor's seconds between a command and the next."""

    def __init__(self) -> None:
        self.line, self.begun = "loading", 0.0

    def __call__(self, line: str) -> None:
        now = time.process_time()
        print(f"{now - self.begun:8.3f} s  {self.line}", flush=True)
        self.line, self.begun = line, now


def _chosen(found: recording.Recording, only: str) -> recording.Recording:
    return {line: doings for line, doings in found.items() if only in line}


if __name__ == "__main__":
    raise SystemExit(main())
