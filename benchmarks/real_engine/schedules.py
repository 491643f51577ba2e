"""Recorded schedules: kept, read, and held against the project's own engine."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine import Choice, Deployment, Run, Workload
from engine.engines import Engine, read_engine

OPTIONS = {  # ours: vLLM's
    "block_size": "block_size",
    "max_num_seqs": "max_num_seqs",
    "max_num_batched_tokens": "max_num_batched_tokens",
    "chunked_prefill": "enable_chunked_prefill",
    "watermark": "watermark",
    "reserve_full_input": "scheduler_reserve_full_isl",
    "prefix_cache": "enable_prefix_caching",
}
DEFAULTS = {"scheduler_reserve_full_isl": True, "enable_chunked_prefill": True}
SEEN = ("first_token", "finish", "preemptions")


@dataclass(frozen=True)
class Recorded:
    """One schedule of the real engine, and how it came about.

    Attributes
    ----------
    settings : vLLM's own options
    case : its requests, and first_token, finish and preemptions of each
    name : where it stands
    """

    settings: dict
    case: dict
    name: str

    @property
    def engine(self) -> Engine:
        """Ours with the same options; InputError for those that it does not have."""
        settings = {**DEFAULTS, **self.settings}
        pairs = [f"{ours}={settings[theirs]:g}" for ours, theirs in OPTIONS.items()]
        return read_engine("vllm:" + ",".join(pairs))

    @property
    def policy(self) -> str:
        return "priority" if self.settings["scheduling_policy"] == "priority" else "fcfs"

    @property
    def workload(self) -> Workload:
        arrival, prompt, output, priority = np.array(self.case["requests"]).T[:4]
        return Workload(arrival, prompt, output, priority=priority)

    def run(self) -> Run:
        """What the project's engine makes of the same requests."""
        deployment = Deployment(self.settings["memory_tokens"], engine=self.engine)
        return deployment.run(Choice.of(self.policy), self.workload)

    def first_difference(self, schedule: dict[str, list[int]]) -> str:
        """Empty where a schedule is the recorded one, else the first request that differs."""
        for row, request in enumerate(self.case["requests"]):
            for what in SEEN:
                theirs, ours = self.case[what][row], schedule[what][row]
                if theirs != ours:
                    return f"{self.name}: request {row} {request}: {what} {theirs}, here {ours}"
        return ""


def steps_of(run: Run) -> dict[str, list[int]]:
    """A run as schedules are recorded."""
    return {what: getattr(run, what).astype(int).tolist() for what in SEEN}


def read_sets(path: Path) -> list[dict]:
    """The sets of schedules in a file: one, or a kept list of them."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        content = json.load(file)
    return content.get("sets", [{"name": path.stem, **content}])


def schedules_of(sets: list[dict]) -> Iterator[Recorded]:
    """Every schedule of some sets."""
    for set_ in sets:
        for place, case in enumerate(set_["cases"]):
            yield Recorded(set_["settings"], case, f"{set_['name']} {place}")


def keep(paths: list[Path], target: Path) -> None:
    """Many files as one, small: the same bytes for the same schedules."""
    sets = [set_ for path in paths for set_ in read_sets(path)]
    text = json.dumps({"sets": sets}, separators=(",", ":"))
    target.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
