"""Results of vLLM's `bench serve` (earlier benchmark_serving.py), with --save-detailed."""

from __future__ import annotations

from engine.traces.bench import RETOKENIZED, is_bench, read_bench
from engine.traces.head import Head
from engine.traces.log import LogReading
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests

NAME = "vLLM benchmark result"
EXAMPLE = (
    '{"date": "20250101-120000", "backend": "vllm", "model_id": "m", "num_prompts": 2, '
    '"request_rate": "inf", "duration": 3.5, "completed": 2, "total_input_tokens": 30, '
    '"total_output_tokens": 5, "request_throughput": 0.57, "request_goodput:": null, '
    '"input_lens": [10, 20], "output_lens": [2, 3], "ttfts": [0.5, 0.25], '
    '"itls": [[0.1], [0.1, 0.2]], "start_times": [100.5, 101.0], "errors": ["", ""]}'
)


def matches(head: Head) -> bool:
    return is_bench(head) and not head.has(RETOKENIZED)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    return read_bench(opened, reading, "--save-result --save-detailed")
