"""A measured run of a server: what was asked of it, when, and when the tokens came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from engine import Deployment, Workload
from engine.engines import Engine, read_engine
from engine.machine.clock import Clock

NOT_SAID = 400_000  # tokens of KV cache where a run does not tell: more than it ever asks for
NULL = 1  # a block of vLLM's pool that holds nothing


@dataclass(frozen=True, eq=False)
class Measured:
    """n requests in the order in which they were sent.

    Attributes
    ----------
    prompt, output : (n,) int64, tokens
    sent, first, last : (n,) float64, seconds: when sent, and when the first and last token came
    settings : the run's own
    name : of its file
    """

    prompt: np.ndarray
    output: np.ndarray
    sent: np.ndarray
    first: np.ndarray
    last: np.ndarray
    settings: dict
    name: str

    @property
    def workload(self) -> Workload:
        return Workload(self.sent, self.prompt, self.output)

    @property
    def engine(self) -> Engine:
        """vLLM with the options of the run; its prefix cache left out."""
        asked = self.settings["engine_kwargs"]
        names = ("max_num_seqs", "max_num_batched_tokens")
        return read_engine("vllm:" + ",".join(f"{name}={asked[name]}" for name in names))

    @property
    def memory(self) -> int:
        """Tokens in the blocks that requests can have."""
        cache = self.settings.get("kv_cache")
        return (cache["num_gpu_blocks"] - NULL) * cache["block_size"] if cache else NOT_SAID

    def deployment(self, clock: Clock) -> Deployment:
        return Deployment(self.memory, clock, engine=self.engine)

    @cached_property
    def times(self) -> dict[str, np.ndarray]:
        """(n,) each: TTFT, TPOT and end-to-end, seconds."""
        apart = np.where(self.output > 1, self.output - 1, np.nan)
        return {
            "TTFT": self.first - self.sent,
            "TPOT": (self.last - self.first) / apart,
            "end-to-end": self.last - self.sent,
        }


def read_measured(path: Path) -> Measured:
    """A run as LLMServingSim keeps it: one request a line, and its settings in a file beside.

    A request was sent when its client's clock says; that clock is set against the engine's by
    the request that was picked up soonest.
    """
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows.sort(key=lambda row: row["arrival_time"])
    settings = json.loads(path.with_suffix(".meta.json").read_text())
    columns = {
        name: np.array([row[name] for row in rows]) for name in rows[0] if name[:7] != "request"
    }
    sent = columns["arrival_time"]
    sent = sent + (columns["queued_ts"] - sent).min()
    begun = sent.min()
    return Measured(
        columns["input_toks"],
        columns["output_toks"],
        sent - begun,
        columns["first_token_ts"] - begun,
        columns["last_token_ts"] - begun,
        settings,
        path.stem,
    )
