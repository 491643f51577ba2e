"""Small files that stand for large ones: `import` of each ends within a minute and 2 GB.

`python -m tests.endurance.bombs` makes twenty of them, in a folder that goes with it, and prints
for each the size, the seconds, the most memory it took, the exit code, 0 or 2, and the sentence.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ADDRESSES = 2_000_000_000  # bytes
SECONDS = 60.0
MB = 1_000_000
HEAD = b"arrival,prompt,output\n"
ROW = b'{"timestamp":1,"input_length":2,"output_length":3}\n'


def packed(head: bytes, block: bytes, times: int, level: int = 9) -> Callable[[Path], None]:
    """gzip of a beginning and of a block so many times."""

    def make(path: Path) -> None:
        with gzip.open(path, "wb", compresslevel=level) as file:
            file.write(head)
            for _ in range(times):
                file.write(block)

    return make


def plain(content: Callable[[], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content()) and None


def members(path: Path) -> None:
    """Many gzip files in one."""
    path.write_bytes(gzip.compress(HEAD) + gzip.compress(b"1,2,3\n") * 200_000)


def gzip_in_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.compress(b"0" * 200 * MB)))


def sparse(path: Path) -> None:
    """Three gigabytes of zeros that take no room."""
    with path.open("wb") as file:
        file.truncate(3_000_000_000)


def parquet(columns: Callable[[], dict[str, pa.Array]], **how) -> Callable[[Path], None]:
    return lambda path: pq.write_table(pa.table(columns()), path, compression="zstd", **how)


def alike(rows: int) -> dict[str, pa.Array]:
    same = pa.array(np.ones(rows, np.int64))
    return {"arrival": same, "prompt": same, "output": same}


def long_texts() -> dict[str, pa.Array]:
    text = pa.array(["x" * 20 * MB] * 20)
    return {"arrival": pa.array(range(20)), "prompt": pa.array([1] * 20), "output": text}


def nested_lists() -> dict[str, pa.Array]:
    return {**alike(2), "itl": pa.array([[[0.0] * 4_000_000], [[0.0] * 4_000_000]])}


BOMBS: dict[str, Callable[[Path], None]] = {
    "one line of digits": packed(HEAD, b"1" * MB, 240),
    "one line, no header": packed(b"", b"a" * MB, 240),
    "two hundred million rows": packed(HEAD, b"1,2,3\n" * 100_000, 2000),
    "rows of nothing": packed(HEAD, b"\n" * MB, 1000),
    "rows of carriage returns": packed(HEAD, b"\r" * MB, 1000),
    "zeros": packed(b"", bytes(MB), 1000),
    "three gigabytes of holes": sparse,
    "gzip within gzip": gzip_in_gzip,
    "200,000 gzip files in one": members,
    "one JSON text": packed(b'[{"prompt": "', b"x" * MB, 300),
    "lists in lists": packed(b"", b"[" * MB, 100),
    "objects in objects": packed(b"", b'{"a":' * 200_000, 300),
    "a number of 10 million digits": plain(lambda: b'{"timestamp": ' + b"1" * 10 * MB + b"}"),
    "a million columns": plain(lambda: b"arrival,prompt,output," + b",".join(
        b"c%d" % k for k in range(1_000_000)) + b"\n1,2,3" + b",1" * 1_000_000),
    "a million keys": plain(lambda: json.dumps({f"k{k}": k for k in range(1_000_000)}).encode()),
    "other keys in every line": plain(lambda: ROW + b"".join(
        ROW[:-2] + b',"k%d":1}\n' % k for k in range(300_000))),
    "a quote that never ends": plain(lambda: HEAD + b'1,2,"' + b"3,4\n" * 10_000_000),
    "Parquet of 400 million rows": parquet(lambda: alike(20_000_000), row_group_size=20_000_000),
    "Parquet of long texts": parquet(long_texts),
    "Parquet of lists in lists": parquet(nested_lists),
}  # fmt: skip


def imported(path: Path) -> tuple[int | str, float, float, str]:
    """Exit code or what else happened, seconds, megabytes at most, and the last line of stderr."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "engine", "import", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=told,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES)),
        )
        code: int | str = "hung"
        while time.monotonic() - begun < SECONDS + 10:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.05)
        else:
            process.kill()
            _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        seconds = time.monotonic() - begun
        told.seek(0)
        lines = told.read().decode(errors="replace").splitlines() or [""]
    return code, seconds, used.ru_maxrss / 1000, lines[-1]


def attack(names: list[str]) -> list[dict]:
    """What came of each bomb."""
    outcomes = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "bomb")
            BOMBS[name](path)
            code, seconds, memory, told = imported(path)
            size = path.stat().st_blocks * 512 / MB
        stood = code in (0, 2) and seconds <= SECONDS and (code == 0 or told.startswith("error: "))
        outcomes.append(
            {"bomb": name, "size": size, "code": code, "seconds": seconds, "memory": memory,
             "told": told, "stood": stood}
        )  # fmt: skip
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bombs", nargs="*", default=list(BOMBS))
    for name in parser.parse_args().bombs:
        (one,) = attack([name])
        stood = "stood" if one["stood"] else "FAILED"
        print(
            f"{stood} {one['bomb']}: {one['size']:.1f} MB on disk, exit {one['code']}, "
            f"{one['seconds']:.0f} s, {one['memory']:.0f} MB: {one['told'][-150:]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
