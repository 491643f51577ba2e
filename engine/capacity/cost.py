"""What servers cost: by the hour, and by the million tokens that they serve.

Prices of a GPU-hour lie in sample_data/gpus.csv: examples in the order of public list prices,
to be replaced by one's own.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from engine.errors import InputError
from engine.fields import number_in
from engine.machine.clock import Clock
from engine.machine.hardware import Preset
from engine.sample_data import SAMPLE_DATA

ANY_GPU = 2.5  # USD an hour, where nothing is known
HOUR = 3600.0  # seconds
MILLION = 1e6


@dataclass(frozen=True)
class Price:
    """What one server costs.

    Attributes
    ----------
    gpu_hour : of one GPU, in any currency
    gpus : that one server is made of
    is_assumed : whether nobody has said what a GPU-hour costs
    """

    gpu_hour: float = ANY_GPU
    gpus: int = 1
    is_assumed: bool = False

    def __post_init__(self) -> None:
        number_in("price of a GPU-hour", self.gpu_hour, 0, 1e6)
        number_in("GPUs a server", self.gpus, 1, 1024, whole=True)

    def an_hour(self, servers: float) -> float:
        """Of so many servers."""
        return self.gpu_hour * self.gpus * servers

    def a_million_tokens(
        self, servers: int, rate: float, mean_tokens: float, clock: Clock
    ) -> float | None:
        """Of some kind, of which `mean_tokens` are served for each request that arrives at `rate`.

        None in rounds, which have no length, and where none is served.
        """
        if clock.is_rounds or not mean_tokens:
            return None
        return self.an_hour(servers) / (rate * mean_tokens * HOUR) * MILLION


@cache
def prices() -> dict[str, float]:
    """The price of a GPU-hour by the key of the GPU.

    Raises
    ------
    InputError
        Naming the row that cannot be read.
    """
    with (SAMPLE_DATA / "gpus.csv").open(encoding="utf-8", newline="") as file:
        return {row["key"]: _price(row) for row in csv.DictReader(file)}


def _price(row: dict) -> float:
    try:
        return number_in(f"price of {row['key']}", float(row["usd_per_hour"] or "none"), 0, 1e6)
    except ValueError as problem:
        raise InputError(f"gpus.csv, {row['key']}: {problem}") from None


def price_of(preset: Preset | None) -> Price:
    """A server of this preset; one GPU of any kind where the preset names none."""
    if preset is None:
        return Price(is_assumed=True)
    known = prices().get(preset.gpu)
    return Price(ANY_GPU if known is None else known, preset.tensor_parallel, known is None)
