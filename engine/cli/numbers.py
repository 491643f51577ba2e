"""Numbers on the command line, kept as they were written."""

from __future__ import annotations

import argparse

from engine.fields import number_of


def number(text: str) -> float:
    """`0` as 0 and `1e3` as 1000.0, so that a message about a bad number quotes it as given."""
    value = number_of(text)
    if isinstance(value, str):
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return value
