"""A workload as the canonical CSV."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from engine.errors import InputError
from engine.workload import PREDICTED, Workload

UNWRITABLE = set(',"\r\n')
CHUNK = 100_000  # rows formatted at a time


def write_csv(workload: Workload, path: str | PathLike) -> None:
    """Write arrival,prompt,output, what else is given of priority, predictions and class.

    Reading the file gives the same numbers and class names again: arrivals are
    written in the fewest digits that name the same float64.

    Raises
    ------
    InputError
        When the file cannot be written, or a class name cannot stand in it.
    """
    with_class = workload.classes != ("all",)
    for name in workload.classes if with_class else ():
        if not name or name != name.strip() or UNWRITABLE & set(name):
            raise InputError(
                f"the class name {name!r} cannot stand in a CSV: no comma, quote or line break, "
                "no space around it"
            )
    try:
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            header = ["arrival", *_whole_columns(workload), *["class"] * with_class]
            file.write(",".join(header) + "\n")
            for first in range(0, len(workload), CHUNK):
                file.writelines(_rows(workload, slice(first, first + CHUNK), with_class))
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def _whole_columns(workload: Workload) -> dict[str, np.ndarray]:
    """The columns of whole numbers that say something, by name."""
    columns = {name: getattr(workload, name) for name in ("prompt", "output", *PREDICTED)}
    columns["priority"] = workload.priority if workload.priority.any() else None
    return {name: column for name, column in columns.items() if column is not None}


def _rows(workload: Workload, part: slice, with_class: bool):
    names = ["," + name if with_class else "" for name in workload.classes]
    table = np.column_stack([column[part] for column in _whole_columns(workload).values()])
    for arrival, numbers, class_of in zip(
        workload.arrival[part].tolist(),
        table.tolist(),
        workload.class_of[part].tolist(),
        strict=True,
    ):
        when = repr(arrival).removesuffix(".0")
        yield f"{when},{','.join(map(str, numbers))}{names[class_of]}\n"
