"""Two knobs turned against each other: every cell is a simulation of each policy.

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
from engine.policy import POLICIES
from engine.progress import Progress, silent
from engine.scale_out import HERE
from engine.sweeps.parameters import Experiment, Parameter, Turns, turned
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
    across, up : the knobs of the horizontal and of the vertical axis
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
        """What the policies are called, in the order of the picks."""
        return [POLICIES[key].label(dict(params)) for key, params in self.experiment.picks]

    def turns(self, place: Place) -> Turns:
        """Where the knobs stand in this column and row."""
        column, row = place
        return (self.across.name, self.columns[column]), (self.up.name, self.rows[row])

    def at(self, place: Place) -> Experiment:
        """The experiment of the cell in this column and row."""
        return turned(self.experiment, self.turns(place))

    def seconds(self, places: list[Place]) -> float:
        """How long these cells take, roughly."""
        return sum(self.at(place).seconds + 1e-3 for place in places)


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
    turns = [heat_map.turns(place) for place in places]
    found = read_each(heat_map.experiment, turns, heat_map.objective, on, progress)
    for number, readings in found:
        yield places[number], dict(zip(heat_map.labels, readings, strict=True))


def grid(
    heat_map: HeatMap,
    cells: Mapping[Place, Cell],
    label: str,
    value: Callable[[CellReading], float],
) -> np.ndarray:
    """(rows, columns) float64: a value of one policy; NaN where not even a coarse cell is."""
    found = np.full((len(heat_map.rows), len(heat_map.columns)), np.nan)
    for row in range(found.shape[0]):
        for column in range(found.shape[1]):
            nearest = standing_for(cells, (column, row))
            told = cells[nearest][label] if nearest is not None else None
            if told is not None:
                found[row, column] = value(told)
    return found


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
    told = f"**{label}** {what} in {wording.percent(met[label])} of the cells"
    if doubtful := sum(_is_doubtful(found[label]) for found in cells.values()):
        told += f" ({wording.count(doubtful)} of them too near the border to be certain)"
    if met[best] == met[label]:
        return f"{told}; none does in more." if len(met) > 1 else f"{told}."
    return f"{told}, **{best}** in {wording.percent(met[best])}."


def doubtful_places(heat_map: HeatMap, cells: Mapping[Place, Cell], label: str) -> list[Place]:
    """Where the map says carried, and a still longer run might say otherwise."""
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


def _is_doubtful(told: CellReading | None) -> bool:
    return told is not None and not told.certain


def _share_met(cells: Mapping[Place, Cell], label: str) -> float:
    told = [found[label] for found in cells.values()]
    return sum(found is not None and found.is_met for found in told) / max(1, len(told))
