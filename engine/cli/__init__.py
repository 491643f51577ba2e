"""Simulate and bound LLM serving under a KV-cache memory budget.

The command line (docs/model.md 6): results on stdout, remarks on stderr, exit 2 for bad input.
One command, one file: each offers `add_arguments(parser)` and `run(arguments)`.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import sys
from contextlib import suppress
from pathlib import Path

from engine.cli.plain_output import print_what_can_be_printed
from engine.cli.remarks import say
from engine.compiled import announced
from engine.errors import InputError

COMMANDS = {  # and the file of each
    "simulate": "simulate",
    "bound": "bound",
    "verify": "verify",
    "generate": "generate",
    "import": "import_",
    "audit": "audit",
    "calibrate": "calibrate",
    "capacity": "capacity",
    "sweep": "sweep",
    "report": "report",
    "uncertainty": "uncertainty",
    "policies": "policies",
    "hardware": "hardware",
    "dashboard": "dashboard",
    "warm": "warm",
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, like every other bad input."""

    def error(self, message: str):
        raise InputError(f"{message} (see {self.prog} --help)")


class Command(Parser):
    """Of one command: its file is imported, and its arguments added, when it is the one named."""

    def __init__(self, *, file: str, **options) -> None:
        super().__init__(**options)
        self._file: str | None = file

    def complete(self) -> Command:
        file, self._file = self._file, None
        if file:
            module = importlib.import_module(f"engine.cli.{file}")
            module.add_arguments(self)
            self.set_defaults(run=module.run)
        return self

    def parse_known_args(self, args=None, namespace=None):
        return super(Command, self.complete()).parse_known_args(args, namespace)


def parser() -> argparse.ArgumentParser:
    called = "headroom" if Path(sys.argv[0]).stem == "headroom" else "python -m engine"
    top = Parser(prog=called, description=__doc__.splitlines()[0])
    commands = top.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=Command
    )
    for name, file in COMMANDS.items():
        what = _first_sentence(file)
        commands.add_parser(name, file=file, help=what, description=what)
    return top


def _first_sentence(file: str) -> str | None:
    """What a command's file says of it, without importing the file."""
    source = Path(__file__).with_name(f"{file}.py").read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(source))


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code is its own (0 unless it says so).

    2 for bad input, or a file or disk that fails while in use; 130 when interrupted.
    """
    print_what_can_be_printed()
    try:
        with announced(lambda: print("compiling the engine (first use)", file=sys.stderr)):
            arguments = parser().parse_args(argv)
            arguments.remarks = []
            code = arguments.run(arguments) or 0
        sys.stdout.flush()
        say(arguments)
        return code
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except MemoryError:
        print("error: there is not enough memory for so much: give a part of it", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _let_go_of_stdout()
        return 0
    except OSError as problem:
        _let_go_of_stdout()
        place = f"{problem.filename}: " if problem.filename else ""
        print(f"error: {place}{problem.strerror or problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _let_go_of_stdout() -> None:
    """Send what is still to be written nowhere, or Python would complain of it at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
