"""What a worker does with some pieces of a sweep.

`visit` and `engine_there` are sent to the workers by value: neither the scheduler nor a worker
needs this engine to receive them, so that one which lacks it, or has another, can be told.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.errors import InputError
from engine.scale_out.sweep import Stopped
from engine.version import version


@dataclass(frozen=True)
class TaskOutcome:
    """What came of some pieces.

    Attributes
    ----------
    version : of the engine that did it; where it is not the one that was asked for, nothing
        was done
    results : one a piece
    problem : the bad input that one of them met
    """

    version: str
    results: tuple = ()
    problem: InputError | None = None


def by_value() -> tuple[Callable, Callable]:
    """`engine_there` and `visit`: defined in here, they are pickled with their code."""

    def engine_there() -> str | None:
        """The version of the worker's engine; None where it has none."""
        try:
            from engine.version import version  # the worker's own
        except ImportError:
            return None
        return version()

    def visit(shared: bytes, items: bytes, asked: str):
        """Do some pieces."""
        from engine.scale_out.worker import perform  # the worker's own

        return perform(shared, items, asked)

    return engine_there, visit


def perform(shared: bytes, items: bytes, asked: str) -> TaskOutcome:
    """Unpack pieces and do them, if this is the engine that was asked for."""
    if version() != asked:
        return TaskOutcome(version())
    do, known = _unpacked(shared)
    try:
        return TaskOutcome(asked, tuple(do(known, item, go_on) for item in pickle.loads(items)))
    except InputError as problem:
        return TaskOutcome(asked, problem=problem)
    except Stopped:
        return TaskOutcome(asked)


@lru_cache(maxsize=2)  # all pieces of a sweep that a worker gets share one object
def _unpacked(shared: bytes) -> tuple[Callable, Any]:
    return pickle.loads(shared)


def go_on(_share_done: float, _told: str = "") -> None:
    """The progress of a piece: stops it where its task was cancelled, which Dask leaves running."""
    from distributed import get_worker  # slow to import

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    if task is None or task.state != "executing":
        raise Stopped
