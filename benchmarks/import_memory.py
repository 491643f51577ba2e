"""The memory that reading a large file takes, in multiples of the file (docs/results.md 2, 7).

    python -m benchmarks.import_memory [MEGABYTES] [LAYOUT ...]

For each layout a file of 200 MB is written and read into a workload by a process of its own,
whose largest resident memory is told, some 170 MB of libraries included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

READ = """
import resource, sys, time
begun = time.perf_counter()
from engine.traces import read_trace
workload, report = read_trace(sys.argv[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(report.format, len(workload), peak, time.perf_counter() - begun, sep="\\t")
"""


def short_rows() -> Iterator[str]:
    """About as few characters as a row can have: `1234567,7,9`."""
    yield "arrival,prompt,output\n"
    for i in count():
        yield f"{i // 10},{i % 9 + 1},{i % 7 + 1}\n"


def azure() -> Iterator[str]:
    yield "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    begun = datetime(2024, 5, 12)
    for i in count():
        at = begun + timedelta(milliseconds=20 * i)
        yield f"{at:%Y-%m-%d %H:%M:%S.%f}0,{i % 5000 + 1},{i % 700 + 1}\n"


def burstgpt() -> Iterator[str]:
    """With classes, and every tenth request failed."""
    yield "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    for i in count():
        yield f"{i // 3},GPT-4,{i % 900 + 1},{i % 10},{i % 900 + 1 + i % 10},API log\n"


def mooncake() -> Iterator[str]:
    for i in count():
        row = {"timestamp": 3 * i, "input_length": i % 5000 + 1, "output_length": i % 700 + 1}
        yield json.dumps({**row, "hash_ids": [i, i + 1]}) + "\n"


def lean_objects() -> Iterator[str]:
    """JSON lines with the shortest names that are known."""
    for i in count():
        yield f'{{"t":{i // 9},"in":{i % 9 + 1},"out":{i % 7 + 1}}}\n'


def measured() -> Iterator[str]:
    """A table with the two durations that a server measured, failures and classes."""
    yield "start_ns,prompt_tokens,output_tokens,ttft_s,latency_s,status,class\n"
    for i in count():
        at = 1_700_000_000_000_000_000 + i * 10**7
        yield f"{at},{i % 5000 + 1},{i % 700 + 1},0.25,{1 + i % 9},ok,{'ab'[i % 2]}\n"


def conversations() -> Iterator[str]:
    """One long list, as ShareGPT's."""
    turns = [{"from": "human", "value": "x" * 300}, {"from": "gpt", "value": "y" * 800}]
    for i in count():
        yield ("[" if i == 0 else ",\n") + json.dumps({"id": str(i), "conversations": turns})


def vllm_result() -> Iterator[str]:
    """One document, which is read whole: 200 gaps between tokens a request."""
    head = {"completed": 1, "total_input_tokens": 1, "request_throughput": 1.0}
    yield json.dumps(head)[:-1] + ', "itls": ['
    for i in count():
        gaps = [0.0123456789012345 + 1e-9 * i] * 200
        yield ("," if i else "") + json.dumps(gaps)


def vllm_result_end(requests: int) -> str:
    """The other lists of that document."""
    lists = {"input_lens": 10, "output_lens": 201, "ttfts": 0.5, "start_times": 1.5}
    return (
        "]"
        + "".join(f', "{name}": {json.dumps([value] * requests)}' for name, value in lists.items())
        + "}"
    )


WRITERS = (
    short_rows, azure, burstgpt, mooncake, lean_objects, measured, conversations, vllm_result,
)  # fmt: skip
LAYOUTS: dict[str, Callable[[], Iterator[str]]] = {writer.__name__: writer for writer in WRITERS}
ENDS: dict[str, Callable[[int], str]] = {  # of so many lines
    "conversations": lambda _: "]",
    "vllm_result": lambda lines: vllm_result_end(lines - 1),
}


def write(layout: str, path: Path, size: int) -> None:
    """A file of this layout and about this size, bytes."""
    written = lines = 0
    with path.open("w", buffering=1 << 20) as file:
        for line in LAYOUTS[layout]():
            written += file.write(line)
            lines += 1
            if written >= size:
                break
        file.write(ENDS[layout](lines) if layout in ENDS else "")


def main(megabytes: float, layouts: list[str]) -> None:
    print("| layout | requests | bytes a row | seconds | peak | of the file |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for layout in layouts:
            path = Path(folder) / layout
            write(layout, path, int(megabytes * 1e6))
            said = subprocess.run(
                [sys.executable, "-c", READ, path], capture_output=True, text=True, check=True
            )
            _, requests, peak, seconds = said.stdout.split("\t")
            size = os.path.getsize(path)
            cells = [layout, f"{int(requests):,}", f"{size / int(requests):.1f}"]
            cells += [f"{float(seconds):.0f}", f"{int(peak) / 1e6:.0f} MB"]
            print(f"| {' | '.join(cells)} | {int(peak) / size:.2f}x |", flush=True)
            path.unlink()


if __name__ == "__main__":
    size, *chosen = sys.argv[1:] or ["200"]
    main(float(size), chosen or list(LAYOUTS))
