"""Random requests and settings to drive the real engine with."""

from __future__ import annotations

import numpy as np

COLUMNS = ("arrival_round", "prompt", "output", "priority", "prefix_group", "prefix_tokens")
MODEL_LEN = 1000  # prompt + output, at most
KINDS = {  # what each kind has besides the drawn memory and blocks
    "whole": {},
    "chunk": {"max_num_batched_tokens": (64, 128, 256, 512), "max_num_seqs": (8, 16, 32)},
    "uncut": {"enable_chunked_prefill": (False,), "max_num_batched_tokens": (1024, 2048)},
    "priority": {"scheduling_policy": ("priority",)},
    "watermark": {"watermark": (0.01, 0.05, 0.1, 0.2, 0.3)},
    "prefix": {"enable_prefix_caching": (True,)},
    "prefix_chunk": {
        "enable_prefix_caching": (True,),
        "max_num_batched_tokens": (256, 512),
        "max_num_seqs": (16, 32),
    },
}
BLOCK_SIZES = {"engine": (32, 64), "scheduler": (1, 8, 16, 32)}  # as the CPU's attention has it


def drawn_settings(random: np.random.Generator, kind: str, how: str) -> dict:
    """Options of vLLM's own names, and the memory in tokens."""
    size = int(random.choice(BLOCK_SIZES[how]))
    memory = 64 * int(random.integers(16, 41))
    settings = {
        "memory_tokens": memory,
        "block_size": size,
        "max_num_batched_tokens": 8192,
        "max_num_seqs": 256,
        "max_model_len": MODEL_LEN,
        "enable_prefix_caching": False,
        "scheduling_policy": "fcfs",
        "watermark": 0.0,
        "async_scheduling": False,
        "scheduler_reserve_full_isl": True,
        "enable_chunked_prefill": True,
    }
    for name, values in KINDS[kind].items():
        settings[name] = values[int(random.integers(len(values)))]
    if kind == "chunk":
        settings["scheduler_reserve_full_isl"] = bool(random.random() < 0.6)
    return settings


def drawn_arrivals(random: np.random.Generator, load: str, n: int) -> np.ndarray:
    """(n,) steps, ascending."""
    if load == "backlog":
        return np.zeros(n, int)
    if load == "poisson":
        return np.cumsum(random.exponential(random.choice([3.0, 12.0]), n)).astype(int)
    bursts = np.cumsum(random.integers(20, 120, 6))
    return np.sort(random.choice(bursts, n))


def drawn_case(random: np.random.Generator) -> dict:
    """Requests that come in one way, half of the time with outputs that make them outgrow M."""
    load = str(random.choice(["backlog", "poisson", "burst"]))
    n = int(random.choice([8, 20, 40, 60]))
    longest, most = int(random.choice([50, 200, 700])), int(random.choice([5, 60, 250, 250, 250]))
    shared = int(random.choice([0, 40, 300]))
    groups = int(random.choice([1, 3, 8]))
    rows = [
        [int(value) for value in row]
        for row in zip(
            drawn_arrivals(random, load, n),
            random.integers(1, longest + 1, n),
            random.integers(1, most + 1, n),
            random.integers(0, 3, n),
            random.integers(0, groups, n),
            np.full(n, shared),
            strict=True,
        )
    ]
    return {"kind": load, "requests": rows}


def drawn_question(kind: str, how: str, cases: int, seed: int) -> dict:
    """What driver.py answers: one file's settings, and its cases."""
    random = np.random.default_rng([seed, *kind.encode(), *how.encode()])
    settings = drawn_settings(random, kind, how)
    drawn = [drawn_case(random) for _ in range(cases)]
    return {"how": how, "seed": seed, "settings": settings, "columns": COLUMNS, "cases": drawn}
