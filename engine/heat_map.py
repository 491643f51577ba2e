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
from engine.capacity.objective import Objective, keeps_up
from engine.errors import InputError
from engine.knobs import Experiment, Knob, Turns, turned
from engine.metrics import tpot, ttft
from engine.overload import verdict
from engine.policy import POLICIES
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all

STRIDES = (4, 2, 1)
CHUNK = 80  # cells between two repaintings
OVERLOADED = 1.5  # how far an overloaded run counts as beyond its limits, at least
CARRIED = 0.5  # and how far one counts that keeps up and has no limits to keep

Place = tuple[int, int]


@dataclass(frozen=True)
class Reading:
    """What one policy did in one cell; times in clock units.

    Attributes
    ----------
    ttft, tpot : the percentile of the objective; TPOT is NaN where o = 1 for all
    mean_latency : end to end
    attainment : share of requests within all limits of the objective
    preemptions : how often KV cache was given up
    verdict : the kind of engine/overload.py
    excess : how far the objective is missed: at most 1 where it is met
    """

    ttft: float
    tpot: float
    mean_latency: float
    attainment: float
    preemptions: int
    verdict: str
    excess: float

    @property
    def is_met(self) -> bool:
        return self.excess <= 1


METRICS: dict[str, tuple[str, Callable[[Reading], float]]] = {
    "ttft": ("time to first token", lambda reading: reading.ttft),
    "tpot": ("time per output token", lambda reading: reading.tpot),
    "latency": ("mean latency", lambda reading: reading.mean_latency),
    "attainment": ("requests within the limits", lambda reading: reading.attainment),
    "preemptions": ("preemptions", lambda reading: reading.preemptions),
    "verdict": ("verdict", lambda reading: VERDICTS.index(reading.verdict)),
}
VERDICTS = (
    "backlog", "closed loop", "too short", "stable", "saturated", "sheds load", "overloaded"
)  # fmt: skip
PERCENTILES = ("ttft", "tpot")


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
    across: Knob
    up: Knob
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


Cell = Mapping[str, Reading | None]  # by the label of the policy; None where it cannot run


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


def read_each(
    experiment: Experiment,
    turns: Sequence[Turns],
    objective: Objective,
    on: str = HERE,
    progress: Progress = silent,
) -> Iterator[tuple[int, list[Reading | None]]]:
    """`read_all` of the experiment turned in each of these ways, with the index of the way."""
    return run_all(Sweep(_read_turned, (experiment, objective), turns), on, progress)


def _read_turned(shared, turns: Turns, progress: Progress) -> list[Reading | None]:
    experiment, objective = shared
    return read_all(turned(experiment, turns), objective, progress)


def read_all(
    experiment: Experiment, objective: Objective, progress: Progress = silent
) -> list[Reading | None]:
    """One reading a policy of the experiment; None where it cannot run."""
    found: list[Reading | None] = []
    for number, pick in enumerate(experiment.picks):
        progress(number / len(experiment.picks))
        try:
            run = experiment.run(pick)
        except InputError:  # nothing fits in M, a livelock, a router that knows no future
            found.append(None)
        else:
            found.append(reading(run, objective))
    return found


def reading(run, objective: Objective) -> Reading:
    """The numbers of one run."""
    kind = verdict(run).kind
    return Reading(
        ttft=objective.percentile(ttft(run)),
        tpot=objective.percentile(tpot(run)),
        mean_latency=float(run.latency.mean()),
        attainment=float(objective.within(run).sum() / run.offered),
        preemptions=int(run.preemptions.sum()),
        verdict=kind,
        excess=_excess(objective, run),
    )


def _excess(objective: Objective, run) -> float:
    found = objective.excess(run) if objective.has_limits else CARRIED
    return found if keeps_up(run) else max(found, OVERLOADED)


def grid(
    heat_map: HeatMap,
    cells: Mapping[Place, Cell],
    label: str,
    value: Callable[[Reading], float],
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
    if met[best] == met[label]:
        return f"{told}; none does in more." if len(met) > 1 else f"{told}."
    return f"{told}, **{best}** in {wording.percent(met[best])}."


def _share_met(cells: Mapping[Place, Cell], label: str) -> float:
    told = [found[label] for found in cells.values()]
    return sum(found is not None and found.is_met for found in told) / max(1, len(told))
