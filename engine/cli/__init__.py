"""The command line (DESIGN 6): results on stdout, remarks on stderr, exit 2 for bad input.

One command, one file: each offers `add_arguments(parser)` and `run(arguments)`.
"""

from __future__ import annotations

import argparse
import sys

from engine.cli import bound, generate, import_, policies, simulate, verify
from engine.errors import InputError

COMMANDS = {
    "simulate": simulate,
    "bound": bound,
    "verify": verify,
    "generate": generate,
    "import": import_,
    "policies": policies,
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, like every other bad input."""

    def error(self, message: str):
        raise InputError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="python -m engine", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, help=module.__doc__, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code is its own (0 unless it says so), or 2 for bad input."""
    try:
        arguments = parser().parse_args(argv)
        return arguments.run(arguments) or 0
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
    return 0
