"""Pieces of work for the tests of engine/scale_out, found by name on workers."""

import os
import time
from pathlib import Path

from engine import InputError


def square(shared, item, progress):
    """The square of the item, and what is shared."""
    return item * item, shared


def odd(shared, item, progress):
    """Bad input at one item."""
    if item == shared:
        raise InputError(f"item {item} is bad")
    return item


def broken(shared, item, progress):
    """A defect."""
    raise ZeroDivisionError("of ours")


def tick(folder, item, progress):
    """Leave a trace every 20 ms for a while, if nobody stops it; who did the item at the end."""
    for _ in range(25):
        progress(0.0)
        with (Path(folder) / f"{item}").open("a") as file:
            file.write(".")
        time.sleep(0.02)
    return item, os.getpid()
