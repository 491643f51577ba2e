"""A real Dask scheduler and worker processes on loopback, for tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WAIT = 60.0  # seconds until something that should happen counts as missing


class Cluster:
    """One scheduler in a folder without the engine, and workers with it.

    Attributes
    ----------
    address : of the scheduler
    workers : their processes
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        self.address = self._address()
        self.workers: list[subprocess.Popen] = []

    def add_worker(self, home: Path = ROOT, threads: int = 1) -> subprocess.Popen:
        """A worker that imports the engine from `home`, and reads its tests there."""
        options = (self.address, "--no-nanny", "--nthreads", str(threads), "--no-dashboard")
        worker = self._start("worker", *options, home=home)
        self.workers.append(worker)
        return worker

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, what: str, *options: str, home: Path | None = None) -> subprocess.Popen:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        if home is not None:
            environment["PYTHONPATH"] = str(home)
        more = ["--no-dashboard"] if what == "scheduler" else []
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, *more]
        with (self._folder / f"{what}-{time.monotonic_ns()}.log").open("w") as log:
            return subprocess.Popen(
                command, cwd=self._folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )

    def _address(self) -> str:
        def told() -> str | None:
            (log,) = self._folder.glob("scheduler-*.log")
            found = re.search(r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)", log.read_text())
            return found[1] if found else None

        return wait_for(told)


def wait_for(what):
    """The first true value of `what()`; an error where there is none for long."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what.__name__} did not come true in {WAIT} s")
