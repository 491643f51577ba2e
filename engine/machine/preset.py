"""A preset: the round times of a model on GPUs, from a row of a table or a saved record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.machine.clock import Clock, seconds_clock

COEFFICIENTS = ("c0", "c1", "N0", "c2", "c3")


@dataclass(frozen=True)
class Preset:
    """A model on GPUs whose round times were measured or published.

    Attributes
    ----------
    model, gpu : keys, or empty where only the coefficients are known
    clock : with its coefficients, in seconds
    error_percent : mean absolute error of the fit, where known
    fit : what kind of fit, and its reservations
    """

    key: str
    title: str
    model: str
    gpu: str
    tensor_parallel: int
    clock: Clock
    error_percent: float | None
    fit: str


def preset_of(record: Mapping[str, Any]) -> Preset:
    """The preset that a record of texts or numbers describes.

    Raises
    ------
    InputError
        For a coefficient out of range; KeyError, TypeError or ValueError for what is absent
        or no number.
    """
    return Preset(
        key=record["key"],
        title=record["title"],
        model=record["model"],
        gpu=record["gpu"],
        tensor_parallel=int(record["tensor_parallel"] or 1),
        clock=seconds_clock(*(float(record[name]) for name in COEFFICIENTS)),
        error_percent=float(record["error_percent"]) if record["error_percent"] else None,
        fit=record["fit"],
    )


def record_of(preset: Preset) -> dict[str, Any]:
    """What `preset_of` makes the same preset of."""
    return {
        "key": preset.key,
        "title": preset.title,
        "model": preset.model,
        "gpu": preset.gpu,
        "tensor_parallel": preset.tensor_parallel,
        **dict(zip(COEFFICIENTS, preset.clock.step, strict=True)),
        "error_percent": preset.error_percent,
        "fit": preset.fit,
    }
