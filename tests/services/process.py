"""What a running process takes, read from the system: memory, threads, processor time."""

from __future__ import annotations

import os
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds
PAGE = os.sysconf("SC_PAGE_SIZE")  # bytes


def processor_seconds(process: int) -> float:
    """User and system time until now."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return TICK * (int(after_name[11]) + int(after_name[12]))


def resident(process: int) -> float:
    """Megabytes in memory."""
    return PAGE * int(Path(f"/proc/{process}/statm").read_text().split()[1]) / 1e6


def threads(process: int) -> int:
    """How many threads it has."""
    return len(os.listdir(f"/proc/{process}/task"))
