"""Remarks: under "remarks" in the JSON of a command, and on stderr when it has done its work."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable


def remark(arguments: argparse.Namespace, sentences: Iterable[str]) -> None:
    """Keep each, once, in `arguments.remarks`, which `main` begins and says at the end.

    Not at once: bad input that is met later is one sentence alone on stderr.
    """
    arguments.remarks += [
        plain
        for sentence in sentences
        if (plain := sentence.replace("**", "")) not in arguments.remarks
    ]


def say(arguments: argparse.Namespace) -> None:
    """All that was remarked, a line each."""
    for sentence in arguments.remarks:
        print(sentence, file=sys.stderr)
