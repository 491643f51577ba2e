"""Two parameters against each other: every cell is a simulation of each policy.

Cells are worked off coarse first: a quarter of the resolution in each direction, then half, then
all. Until a cell is done it is shown as the coarse cell that stands for it, so that a map
that was stopped is a blurred map and not a torn one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.capacity.objective import Objective
from engine.errors import InputError
from engine.experiment import Experiment
from engine.progress import Progress, silent
from engine.scale_out import HERE
from engine.sweeps.parameters import Parameter, Setting, varied
from engine.sweeps.reading import CellReading, read_each

STRIDES = (4, 2, 1)
CHUNK = 80  # cells between two repaintings

Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class HeatMap:
    """What is mapped.

    Attributes
    ----------
    experiment : as it stands
    across, up : the parameters of the horizontal and of the vertical axis
    columns, rows : their values, ascending
    objective : whose limits are drawn
    """

    experiment: Experiment
    across: Parameter
    up: Parameter
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    objective: Objective

    def __post_init__(self) -> None:
        if self.across.name == self.up.name:
            raise InputError(f"{self.up.name} is on both axes: choose two different knobs")

    @property
    def labels(self) -> list[str]:
        """What the policies are called, in the order of the choices."""
        return [choice.label for choice in self.experiment.choices]

    def setting(self, place: Place) -> Setting:
        """The values of both parameters in this column and row."""
        column, row = place
        return (self.across.name, self.columns[column]), (self.up.name, self.rows[row])

    def at(self, place: Place) -> Experiment:
        """The experiment of the cell in this column and row."""
        return varied(self.experiment, self.setting(place))

    def seconds(self, places: list[Place]) -> float:
        """How long these cells take, roughly."""
        return sum(self._seconds_at(place) + 1e-3 for place in places)

    def _seconds_at(self, place: Place) -> float:
        cell = self.at(place)
        n = cell.requests
        return sum(cell.deployment.seconds(choice, n) for choice in cell.choices)


Cell = Mapping[str, CellReading | None]  # by the label of the policy; None where it cannot run


def passes(heat_map: HeatMap) -> list[list[Place]]:
    """All cells, in portions to be drawn one after another: coarse first."""
    columns, rows = len(heat_map.columns), len(heat_map.rows)
    done: set[Place] = set()
    portions = []
    for stride in STRIDES:
        new = [
            (column, row)
            for row in range(0, rows, stride)
            for column in range(0, columns, stride)
            if (column, row) not in done
        ]
        done.update(new)
        portions += [new[begin : begin + CHUNK] for begin in range(0, len(new), CHUNK)]
    return portions


def run_cells(
    heat_map: HeatMap, places: Sequence[Place], on: str = HERE, progress: Progress = silent
) -> Iterator[tuple[Place, Cell]]:
    """Run every policy in each of these cells; each is given as soon as it is done.

    Parameters
    ----------
    on : where, as for `run_all`
    """
    settings = [heat_map.setting(place) for place in places]
    cells = read_each(heat_map.experiment, settings, heat_map.objective, on, progress)
    for number, readings in cells:
        yield places[number], dict(zip(heat_map.labels, readings, strict=True))


def grid(
    heat_map: HeatMap,
    cells: Mapping[Place, Cell],
    label: str,
    value: Callable[[CellReading], float],
) -> np.ndarray:
    """(rows, columns) float64: a value of one policy; NaN where not even a coarse cell is."""
    values = np.full((len(heat_map.rows), len(heat_map.columns)), np.nan)
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            nearest = standing_for(cells, (column, row))
            reading = cells[nearest][label] if nearest is not None else None
            if reading is not None:
                values[row, column] = value(reading)
    return values


def standing_for(cells: Mapping[Place, Cell], place: Place) -> Place | None:
    """The cell that is shown at a place: itself, or the finest coarse one that is done."""
    column, row = place
    for stride in reversed(STRIDES):
        candidate = (column // stride * stride, row // stride * stride)
        if candidate in cells:
            return candidate
    return None


def in_words(heat_map: HeatMap, cells: Mapping[Place, Cell], label: str) -> str:
    """In how many of the cells a policy meets the objective, against who does in most."""
    met = {name: _share_met(cells, name) for name in heat_map.labels}
    best = max(met, key=lambda name: met[name])
    what = "keeps within the limits" if heat_map.objective.has_limits else "keeps up"
    sentence = f"**{label}** {what} in {wording.percent(met[label])} of the cells"
    if doubtful := sum(_is_doubtful(cell[label]) for cell in cells.values()):
        near = "is" if doubtful == 1 else "are"
        sentence += f" ({wording.count(doubtful)} {near} too near the border to be certain)"
    sentence += _set_aside(cells, label)
    if met[best] == met[label]:
        return f"{sentence}; none does in more." if len(met) > 1 else f"{sentence}."
    return f"{sentence}, **{best}** in {wording.percent(met[best])}."


def _set_aside(cells: Mapping[Place, Cell], label: str) -> str:
    """In how many cells some requests never run, so that the others look quick there."""
    shares = [
        reading.set_aside_share
        for cell in cells.values()
        if (reading := cell[label]) is not None and reading.set_aside
    ]
    if not shares:
        return ""
    most = wording.percent(max(shares))
    return f", with requests set aside in {wording.count(len(shares))} (up to {most} of them)"


def doubtful_places(heat_map: HeatMap, cells: Mapping[Place, Cell], label: str) -> list[Place]:
    """Where the map says no, and a still longer run might say otherwise."""
    everywhere = (
        (column, row)
        for row in range(len(heat_map.rows))
        for column in range(len(heat_map.columns))
    )
    ranked = ((place, standing_for(cells, place)) for place in everywhere)
    return [
        place
        for place, stands in ranked
        if stands is not None and _is_doubtful(cells[stands][label])
    ]


def _is_doubtful(reading: CellReading | None) -> bool:
    return reading is not None and not reading.certain


def _share_met(cells: Mapping[Place, Cell], label: str) -> float:
    readings = [cell[label] for cell in cells.values()]
    met = sum(reading is not None and reading.is_met for reading in readings)
    return met / max(1, len(readings))
