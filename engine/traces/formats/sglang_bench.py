"""Results of SGLang's `bench_serving`, a line a run, with --output-details."""

from __future__ import annotations

from engine.traces.bench import RETOKENIZED, is_bench, read_bench
from engine.traces.head import Head
from engine.traces.log import LogReading
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests

NAME = "SGLang benchmark result"
EXAMPLE = (
    '{"backend": "sglang", "dataset_name": "random", "request_rate": 4.0, "duration": 3.5, '
    '"completed": 2, "total_input_tokens": 30, "total_output_tokens": 5, '
    '"total_output_tokens_retokenized": 5, "request_throughput": 0.57, '
    '"input_lens": [10, 20], "output_lens": [2, 3], "ttfts": [0.5, 0.25], '
    '"itls": [[0.1], [0.1, 0.2]], "errors": ["", ""]}\n'
)


def matches(head: Head) -> bool:
    return is_bench(head) and head.has(RETOKENIZED)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    return read_bench(opened, reading, "--output-details")
