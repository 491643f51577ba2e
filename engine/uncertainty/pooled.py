"""Draws put together: means over the seeds, each with the 95 % t interval of the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.choice import Choice
from engine.measure.set_aside import SetAside
from engine.uncertainty.study import Draw

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Band:
    """A mean and half the width of its interval, (values,) each; 0 for a single draw."""

    mean: np.ndarray
    half: np.ndarray

    @property
    def low(self) -> np.ndarray:
        return self.mean - self.half

    @property
    def high(self) -> np.ndarray:
        return self.mean + self.half


def band(samples: np.ndarray) -> Band:
    """Of (draws, values) independent samples."""
    draws = len(samples)
    mean = samples.mean(axis=0)
    if draws < 2:
        return Band(mean, np.zeros_like(mean))
    from scipy.special import stdtrit  # slow to import

    error = samples.std(axis=0, ddof=1) / np.sqrt(draws)
    return Band(mean, float(stdtrit(draws - 1, (1 + CONFIDENCE) / 2)) * error)


@dataclass(frozen=True, eq=False)
class Pooled:
    """All draws of one study."""

    draws: Sequence[Draw]

    @property
    def values(self) -> np.ndarray:
        return np.array(self.draws[0].values)

    @property
    def choices(self) -> dict[str, Choice]:
        """The choice of every label."""
        return {label: curve.choice for label, curve in self.draws[0].curves.items()}

    @property
    def requests(self) -> int:
        """How many ran in all draws together."""
        return sum(draw.requests for draw in self.draws)

    @property
    def aside(self) -> SetAside:
        """How many can never run, in all draws together, by reason."""
        above = sum(draw.set_aside.above for draw in self.draws)
        return SetAside(above, sum(draw.set_aside.too_long for draw in self.draws))

    @property
    def set_aside(self) -> int:
        """The same for either reason."""
        return self.aside.total

    @property
    def set_aside_share(self) -> float:
        """Of all that were drawn."""
        return self.set_aside / (self.requests + self.set_aside)

    def samples(self, label: str, metric: str) -> np.ndarray:
        """(draws, values) of one of a PolicyCurve's numbers."""
        return np.array([getattr(draw.curves[label], metric) for draw in self.draws], float)

    def band(self, label: str, metric: str) -> Band:
        return band(self.samples(label, metric))

    def overloaded(self, label: str) -> np.ndarray:
        """(values,) bool: whether any draw is overloaded there."""
        return np.any(self.samples(label, "overloaded"), axis=0)
