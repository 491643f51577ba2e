"""Metrics of a running server, in Prometheus' text: two histograms of lengths, no requests.

vLLM, SGLang and TGI count prompts and outputs in buckets. The requests made of them
follow those laws, evenly within each bucket; that a prompt belongs to an output
is not known, so the pairs are drawn. Arrivals are not known either. What else the page says of
its server is said; where it has no histograms, no request is made up. Of pages that follow each
other the last counts, as counters count from the server's start.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from engine.errors import InputError
from engine.traces.head import Head
from engine.traces.log import BACKLOG, LogReading
from engine.traces.metrics_text import Metrics, read_metrics
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.server_facts import facts_of_metrics
from engine.workload import MAX_TOKENS

NAME = "Prometheus metrics of vLLM or SGLang"
EXAMPLE = "".join(
    f'{name}_bucket{{le="{edge}",model_name="m"}} {count}\n'
    for name in ("vllm:request_prompt_tokens", "vllm:request_generation_tokens")
    for edge, count in (("10.0", 1.0), ("100.0", 4.0), ("+Inf", 4.0))
)
PROMPTS = (
    "vllm:request_prompt_tokens", "sglang:prompt_tokens_histogram", "tgi_request_input_length"
)  # fmt: skip
OUTPUTS = (
    "vllm:request_generation_tokens", "sglang:generation_tokens_histogram",
    "tgi_request_generated_tokens",
)  # fmt: skip
MOST = 10_000  # requests drawn from the laws


def matches(head: Head) -> bool:
    return head.kind == "metrics"


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    metrics = read_metrics(opened.text())
    said = list(_said(metrics))
    prompts, outputs = (_of(metrics, names, said) for names in (PROMPTS, OUTPUTS))
    count = min(prompts.count, outputs.count)
    n = min(count, MOST)
    drawn = np.argsort(np.random.default_rng(0).random(n), kind="stable")
    notes = [
        BACKLOG,
        f"these {n:,} requests follow two histograms of {count:,} requests; which prompt had which "
        "output is not known",
        *prompts.notes("prompts"),
        *outputs.notes("outputs"),
        *said,
    ]
    return TraceRequests(
        np.zeros(n),
        prompts.quantiles(n),
        outputs.quantiles(n)[drawn],
        np.arange(n),
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


def _said(metrics: Metrics) -> Iterator[str]:
    """What else the page says."""
    if metrics.scrapes > 1:
        yield f"{metrics.scrapes} pages of metrics follow each other: the last one counts"
    if metrics.restarted:
        yield "a counter fell between them: the server was started again, what was before is lost"
    yield from facts_of_metrics(metrics).sentences()


def _histogram(metrics: Metrics, name: str) -> _Histogram:
    histogram = _Histogram()
    for labels, value in metrics.of(f"{name}_bucket"):
        try:
            edge = float(labels.get("le", ""))
        except ValueError:
            continue
        if value >= 0 and math.isfinite(value):
            histogram.up_to[edge] += value
    histogram.sum = metrics.total(f"{name}_sum") or 0.0
    return histogram


def _of(metrics: Metrics, names: tuple[str, ...], said: Sequence[str]) -> _Histogram:
    for name in names:
        histogram = _histogram(metrics, name)
        if histogram.count >= 1 and any(map(math.isfinite, histogram.up_to)):
            return histogram
    facts = f"; they say: {'; '.join(said)}" if said else ""
    raise InputError(
        f"these metrics hold no counts of {' or '.join(names)}, so no requests can be made of "
        f"them{facts}"
    )
