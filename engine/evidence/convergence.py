"""The gap narrowed from both sides: how a bound rose and schedules improved with the work spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.bound import Bound
from engine.bound_method import find_method
from engine.bounds.prices import SECONDS
from engine.measure.league import Entry, league
from engine.simulate.run import Run

STILL_RISING = 2e-4  # of the value: gained in the second half of the time


@dataclass(frozen=True, eq=False)
class Climb:
    """The history of one bound.

    Attributes
    ----------
    bound : its name
    seconds, value : (k,) float64, k >= 2, when the bound reached which total latency
    unit : of the total latency
    """

    bound: str
    seconds: np.ndarray
    value: np.ndarray
    unit: str = "rounds"

    @property
    def gained(self) -> np.ndarray:
        """(k,) float64: by which share the value is above its start."""
        return self.value / self.value[0] - 1

    @property
    def late(self) -> float:
        """By which share it rose in the second half of the time."""
        halfway = self.value[self.seconds <= self.seconds[-1] / 2][-1]
        return float(self.value[-1] / halfway - 1)

    @property
    def was_stopped(self) -> bool:
        """Whether the time ran out while it was still gaining; else it ended by itself."""
        return bool(self.seconds[-1] >= SECONDS and self.late > STILL_RISING)

    def in_words(self) -> str:
        """How far it rose in which time, and whether more time would raise it further."""
        took = f"{self.seconds[-1]:.2g}{wording.THIN}s"
        if self.gained[-1] <= 0:
            return f"**{self.bound}** did not rise in {took}: its start was as good."
        rose = f"**{self.bound}** rose by {_fine_percent(float(self.gained[-1]))} in {took}"
        if self.was_stopped:
            return (
                f"{rose} and was still rising: more time (`--time-limit` on the command line) "
                "would raise it further."
            )
        return f"{rose} and has come to rest."


def _fine_percent(share: float) -> str:
    """A small share, to two digits: 0.00058 -> 0.058 %."""
    return f"{100 * share:.2g}{wording.THIN}%"


def climbs(bounds: Sequence[Bound]) -> list[Climb]:
    """The bounds that were improved step by step."""
    rising = [bound for bound in bounds if len(bound.history) >= 2]
    histories = [np.array(bound.history) for bound in rising]
    return [
        Climb(bound.bound, history[:, 0], history[:, 1], bound.unit)
        for bound, history in zip(rising, histories, strict=True)
    ]


def relaxations(bounds: Sequence[Bound]) -> list[Bound]:
    """The optima that no prices can pass; a relaxation stopped below a climb is left out."""
    reached = {
        every: max(
            (b.value for b in bounds if b.history and b.covers_preemption == every), default=0
        )
        for every in (False, True)
    }
    return [
        bound
        for bound in bounds
        if find_method(bound.found_by).caps_prices
        and bound.value >= (1 - 1e-6) * reached[bound.covers_preemption]
    ]


def is_better(run: Run, best: Run | None) -> bool:
    """Whether a run has a smaller total latency than the best one before it."""
    return best is None or bool(run.latency.sum() < best.latency.sum())


def as_entries(
    story: Sequence[tuple[float, Run]], bounds: Sequence[Bound]
) -> list[tuple[float, Entry]]:
    """A search's story, (work spent, best run by then), with each run as an entry; those that no
    bound covers are left out."""
    entries = [(spent, league([run], bounds)[0]) for spent, run in story]
    return [(spent, entry) for spent, entry in entries if entry.gap is not None]
