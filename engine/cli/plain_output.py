"""What is printed where the terminal's encoding has not every character: the nearest it has."""

from __future__ import annotations

import codecs
import sys

NEAREST = {
    "\u202f": " ", "\u2212": "-", "\u2013": "-", "\u2265": ">=", "\u2264": "<=", "\u221e": "inf",
    "\u00b5": "u", "\u00b7": "*", "\u2026": "...", "\u00d7": "x", "\u00b1": "+-",
}  # fmt: skip
HANDLER = "headroom.nearest"


def _nearest(problem: UnicodeError) -> tuple[str, int]:
    """What stands for the characters that cannot be encoded; a question mark for most."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    missing = problem.object[problem.start : problem.end]
    return "".join(NEAREST.get(character, "?") for character in missing), problem.end


def print_what_can_be_printed() -> None:
    """Let no encoding of stdout and stderr, such as cp1252, end a command."""
    codecs.register_error(HANDLER, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # no file that somebody put in its place
            stream.reconfigure(errors=HANDLER)
