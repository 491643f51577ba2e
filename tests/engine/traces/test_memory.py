"""Reading a large file takes the memory of its numbers, not of its text (docs/results.md 7)."""

import subprocess
import sys
from pathlib import Path

from benchmarks.import_memory import write

ROOT = Path(__file__).resolve().parents[3]
MEASURE = """
import resource, sys
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
from engine.traces import read_trace
before = peak()
workload, _ = read_trace(sys.argv[1])
print(len(workload), peak() - before)
"""
A_ROW = 40  # bytes: four columns of the workload, and one that is not yet given up
BLOCKS = 80e6  # bytes: the block that is just taken apart, as Python's and Arrow's texts


def test_memory_of_short_rows(tmp_path):
    """The rows that are shortest, and so most for the size of the file."""
    path = tmp_path / "short.csv"
    write("short_rows", path, 40_000_000)
    said = subprocess.run(
        [sys.executable, "-c", MEASURE, path], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows, taken = map(int, said.stdout.split())
    assert rows > 3_000_000
    assert taken < A_ROW * rows + BLOCKS
