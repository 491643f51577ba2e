"""Metrics of a running server, in Prometheus' text: two histograms of lengths, no requests.

vLLM and SGLang count prompts and outputs in buckets. The requests made of them
follow those laws, evenly within each bucket; that a prompt belongs to an output
is not known, so the pairs are drawn. Arrivals are not known either.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from engine.errors import InputError
from engine.traces.head import Head
from engine.traces.log import BACKLOG, LogReading
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.workload import MAX_TOKENS

NAME = "Prometheus metrics of vLLM or SGLang"
EXAMPLE = "".join(
    f'{name}_bucket{{le="{edge}",model_name="m"}} {count}\n'
    for name in ("vllm:request_prompt_tokens", "vllm:request_generation_tokens")
    for edge, count in (("10.0", 1.0), ("100.0", 4.0), ("+Inf", 4.0))
)
PROMPTS = ("vllm:request_prompt_tokens", "sglang:prompt_tokens_histogram")
OUTPUTS = ("vllm:request_generation_tokens", "sglang:generation_tokens_histogram")
LINE = re.compile(r"^([\w:]+?)_(bucket|sum|count)(?:\{(.*)\})?\s+(\S+)")
MOST = 10_000  # requests drawn from the laws


def matches(head: Head) -> bool:
    return head.kind == "metrics"


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    histograms = _histograms(opened.text())
    prompts, outputs = (_of(histograms, names) for names in (PROMPTS, OUTPUTS))
    count = min(prompts.count, outputs.count)
    n = min(count, MOST)
    drawn = np.argsort(np.random.default_rng(0).random(n), kind="stable")
    notes = [
        BACKLOG,
        f"these {n:,} requests follow two histograms of {count:,} requests; which prompt had which "
        "output is not known",
        *prompts.notes("prompts"),
        *outputs.notes("outputs"),
    ]
    return TraceRequests(
        np.zeros(n),
        prompts.quantiles(n),
        outputs.quantiles(n)[drawn],
        np.arange(n, dtype=np.int32),
        n,
        time_unit="none",
        notes=tuple(notes),
    )


class _Histogram:
    """Counts up to each edge, summed over models and engines."""

    def __init__(self):
        self.up_to: dict[float, float] = defaultdict(float)
        self.sum = 0.0

    @property
    def count(self) -> int:
        return int(max(self.up_to.values(), default=0))

    def quantiles(self, n: int) -> np.ndarray:
        """(n,) int32 tokens, the middles of n equal shares, evenly spread within buckets."""
        edges = sorted(edge for edge in self.up_to if math.isfinite(edge))
        counts = np.maximum.accumulate([self.up_to[edge] for edge in edges])
        shares = (np.arange(n) + 0.5) / n * self.count
        tokens = np.interp(shares, [0, *counts], [0, *edges])
        return np.clip(np.ceil(tokens), 1, MAX_TOKENS).astype(np.int32)

    def notes(self, what: str) -> list[str]:
        """How far the law is from what the server summed up, and what lies beyond it."""
        finite = [edge for edge in self.up_to if math.isfinite(edge)]
        beyond = self.count - int(max(self.up_to[edge] for edge in finite))
        notes = []
        if self.sum > 0:
            law, true = self.quantiles(MOST).mean(), self.sum / self.count
            notes.append(f"the mean of the {what} is {law:,.0f} tokens here, {true:,.0f} in truth")
        if beyond:
            notes.append(
                f"{beyond:,} {what} above {max(finite):,.0f} tokens are taken as that long"
            )
        return notes


def _histograms(lines: Iterable[str]) -> dict[str, _Histogram]:
    histograms: dict[str, _Histogram] = defaultdict(_Histogram)
    for line in lines:
        if not (match := LINE.match(line)) or match[1] not in PROMPTS + OUTPUTS:
            continue
        name, part, labels, value = match.groups()
        edge = re.search(r'(?:^|,)\s*le="([^"]*)"', labels or "")
        try:
            value = float(value)
            if part == "bucket" and edge and value >= 0 and math.isfinite(value):
                histograms[name].up_to[float(edge[1])] += value
            elif part == "sum":
                histograms[name].sum += value
        except ValueError:
            raise InputError(f"this line of metrics is damaged: {line.strip()[:200]}") from None
    return histograms


def _of(histograms: dict[str, _Histogram], names: tuple[str, ...]) -> _Histogram:
    for name in names:
        if (
            name in histograms
            and histograms[name].count >= 1
            and any(map(math.isfinite, histograms[name].up_to))
        ):
            return histograms[name]
    raise InputError(f"these metrics hold no counts of {' or '.join(names)}: give a server's page")
