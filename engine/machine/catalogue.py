"""The models and GPUs that are known: tables in sample_data/ (models.csv, gpus.csv)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from engine.sample_data import SAMPLE_DATA


@dataclass(frozen=True)
class LanguageModel:
    """A transformer as far as its KV cache goes.

    Attributes
    ----------
    layers, kv_heads, head_dim : of its attention
    parameters : all weights; `layer_parameters` those of the layers' matrices alone
    """

    key: str
    title: str
    layers: int
    kv_heads: int
    head_dim: int
    parameters: int
    layer_parameters: int

    def bytes_per_token(self, tensor_parallel: int = 1, bytes_each: float = 2) -> float:
        """Bytes of KV cache a token takes on each GPU: keys and values of every layer."""
        heads = max(1.0, self.kv_heads / tensor_parallel)
        return 2 * self.layers * heads * self.head_dim * bytes_each


@dataclass(frozen=True)
class Gpu:
    key: str
    title: str
    memory_gib: float


def table_rows(name: str) -> list[dict]:
    """The rows of a table in sample_data/."""
    with (SAMPLE_DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _whole(row: dict, *names: str) -> dict:
    return {name: int(row[name] or 1) for name in names}


@cache
def models() -> dict[str, LanguageModel]:
    whole = ("layers", "kv_heads", "head_dim", "parameters", "layer_parameters")
    return {
        row["key"]: LanguageModel(row["key"], row["title"], **_whole(row, *whole))
        for row in table_rows("models.csv")
    }


@cache
def gpus() -> dict[str, Gpu]:
    return {
        row["key"]: Gpu(row["key"], row["title"], float(row["memory_gib"]))
        for row in table_rows("gpus.csv")
    }
