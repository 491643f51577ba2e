"""llm-optimizer's results: a JSON line a run, SGLang's result under `results` beside its `config`.

Layout: files that its users show. Most hold averages only; those are refused by name.
"""

from __future__ import annotations

from engine.traces.bench import is_bench, read_bench
from engine.traces.head import Head
from engine.traces.log import LogReading
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests

NAME = "llm-optimizer result"
EXAMPLE = (
    '{"config": {"client_args": {}, "server_args": {}, "server_cmd_args": []}, "results": '
    '{"backend": "vllm", "duration": 3.5, "completed": 2, "total_input_tokens": 30, '
    '"total_output_tokens": 5, "request_throughput": 0.57, "input_lens": [10, 20], '
    '"output_lens": [2, 3], "ttfts": [0.5, 0.25], "itls": [[0.1], [0.1, 0.2]]}}\n'
)
RESULTS = "results"


def matches(head: Head) -> bool:
    return head.has("config") and is_bench(head, RESULTS)


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    return read_bench(opened, reading, "an output of every request", RESULTS)
