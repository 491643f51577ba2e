"""Finished parts of large sweeps, kept by what they depend on and the engine's version.

Another visit, another session or another server on the same database finds them done. The space
is bounded: what nobody has used for longest goes first.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from engine.database import SWEEPS, Database
from engine.demand.scenario import Scenario
from engine.errors import InputError
from engine.fields import LARGEST, build, number_in
from engine.sweeps.heat_map import Cell, HeatMap, Place, passes
from engine.sweeps.reading import VERDICTS, CellReading
from engine.version import version

MOST_CHARACTERS = 100_000_000  # of all parts together


def sweep_key(heat_map: HeatMap) -> str:
    """A name for all that the cells depend on: 64 hexadecimal digits.

    Not the present values of the two parameters.
    """
    first = heat_map.at((0, 0))
    source = first.source if isinstance(first.source, Scenario) else first.source.digest
    axes = (heat_map.across.name, heat_map.up.name, heat_map.columns, heat_map.rows)
    stands = (source, first.deployment, first.choices, heat_map.objective)
    return hashlib.sha256(repr((version(), *stands, *axes)).encode()).hexdigest()


def remember(
    database: Database, sweep: str, part: int, cells: Mapping[Place, Cell], most=MOST_CHARACTERS
) -> None:
    """Keep a part; one that is kept already stays."""
    content = json.dumps([[*place, _record(cell)] for place, cell in cells.items()])
    row = {
        "sweep": sweep, "part": part, "used": datetime.now(UTC),
        "size": len(content), "cells": content,
    }  # fmt: skip
    try:
        with database.writing() as connection:
            connection.execute(SWEEPS.insert(), row)
    except IntegrityError:  # another session has done the same part
        return
    _make_room(database, most)


def recall(database: Database, sweep: str) -> dict[int, dict[Place, Cell]]:
    """The kept parts of a sweep, by their numbers.

    One that cannot be read, as it was written by hand, is forgotten: it will be computed anew.
    """
    of_sweep = SWEEPS.c.sweep == sweep
    if not database.is_there:
        return {}
    with database.reading() as connection:
        rows = connection.execute(sa.select(SWEEPS.c.part, SWEEPS.c.cells).where(of_sweep)).all()
    readable: dict[int, dict[Place, Cell]] = {}
    unreadable: list[int] = []
    for part, cells in rows:
        try:
            readable[part] = _cells(cells)
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            unreadable.append(part)
    if rows:
        with database.writing() as connection:
            connection.execute(SWEEPS.delete().where(of_sweep, SWEEPS.c.part.in_(unreadable)))
            connection.execute(SWEEPS.update().where(of_sweep).values(used=datetime.now(UTC)))
    return readable


def fits(heat_map: HeatMap, part: int, cells: Mapping[Place, Cell]) -> bool:
    """Whether these are the cells of that part of the map, each with all of its policies."""
    wanted = dict(enumerate(passes(heat_map))).get(part)
    labels = set(heat_map.labels)
    return set(cells) == set(wanted or ()) and all(set(cell) == labels for cell in cells.values())


def _make_room(database: Database, most: int) -> None:
    size = sa.cast(SWEEPS.c.size, sa.Integer)  # SQLite may hold any text there
    by_age = sa.select(SWEEPS.c.sweep, SWEEPS.c.part, size).order_by(SWEEPS.c.used.desc())
    with database.writing() as connection:
        held = 0
        for sweep, part, long in connection.execute(by_age).all():
            held += long
            if held > most:
                here = (SWEEPS.c.sweep == sweep) & (SWEEPS.c.part == part)
                connection.execute(SWEEPS.delete().where(here))


def _record(cell: Cell) -> dict:
    return {name: None if reading is None else asdict(reading) for name, reading in cell.items()}


def _cells(content: str) -> dict[Place, Cell]:
    return {
        (column, row): {
            name: None if values is None else _reading(values) for name, values in record.items()
        }
        for column, row, record in json.loads(content)
    }


def _reading(record: Mapping) -> CellReading:
    """ValueError, of which InputError is one, TypeError or OverflowError for what is none."""
    reading = build(CellReading, record, "a cell")
    for entry in fields(CellReading):
        value = getattr(reading, entry.name)
        # TypeError or OverflowError for what is no number; infinite or none at all it may be.
        if entry.type == "float" and (isinstance(value, bool) or math.copysign(1, value) < 0):
            raise InputError(f"{entry.name} of a cell must be a number, and none below 0")
    number_in("preemptions", reading.preemptions, 0, LARGEST, whole=True)
    if reading.verdict not in VERDICTS or not isinstance(reading.certain, bool):
        raise InputError("a cell has a verdict that there is not")
    return reading
