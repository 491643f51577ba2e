"""What the program stands on goes away: a database, a cluster, the disk, the clock, the cache.

`python -m tests.endurance.faults` lets each fault happen and prints whether it held: answers are as
without the fault or one sentence says what is wrong, and all is well when the fault is over. What
cannot be done on this machine is skipped, and says so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services import postgres
from tests.services.browser import ROOT, served
from tests.services.cluster import Cluster, wait_for
from tests.services.session import Session

FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
TRACE = "arrival,prompt,output\n" + "".join(f"{k},{k % 90 + 1},{k % 40 + 1}\n" for k in range(200))
SWEEP = ("sweep", "--n", 400, "-M", 16_492, "--policy", "svf", "--policy", "vllm")
GRID = ["--knob", "memory=9000:20000:12", "--knob", "rate=0.05:0.15:12"]
CLOCKS = ("1971-01-02 00:00:00", "2038-01-19 03:14:06", "2100-12-31 23:59:58")


class Skipped(Exception):
    """This machine lacks what the fault needs."""


class Failed(Exception):
    """The program did not stand it."""


def engine(*arguments, **environment) -> subprocess.CompletedProcess:
    """A command of the engine in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "engine", *map(str, arguments)],
        cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=180,
    )  # fmt: skip


def must(stood: bool, what: str) -> None:
    if not stood:
        raise Failed(what)


def is_refused(done: subprocess.CompletedProcess) -> bool:
    """Exit code 2, one sentence, no traceback."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    return done.returncode == 2 and len(lines) == 1 and "Traceback" not in done.stderr


def database_goes(folder: Path) -> str:
    """PostgreSQL goes while visitors are there, and comes back."""
    if not postgres.is_there():
        raise Skipped("PostgreSQL is not installed")
    server = postgres.Postgres()
    try:
        with served(HEADROOM_DATABASE=server.url) as (address, _), Session(address) as visitor:
            visitor.open(n="60")
            _save(visitor, "before")
            server.go()
            for page in ("", "Saved", "Latency"):
                repaint = visitor.open(page, n="60")
                must(not repaint.exceptions, f"{page}: {repaint.exceptions}")
                must(repaint.settled < 10, f"{page} waited {repaint.settled:.0f} s")
            server.start()
            begun = time.monotonic()
            while "One view" not in visitor.headline and time.monotonic() - begun < 30:
                time.sleep(1)
                visitor.open("Saved", n="60")
            must("One view" in visitor.headline, f"afterwards: {visitor.headline}")
            visitor.open(n="60")
            _save(visitor, "after")
            visitor.open("Saved", n="60")
            must("2 views" in visitor.headline, f"saved again: {visitor.headline}")
        return f"views are back {time.monotonic() - begun:.0f} s after the database"
    finally:
        server.stop()


def _save(visitor: Session, name: str) -> None:
    visitor.set("save name", string_value=name)
    visitor.press("Save this view")


def worker_goes(folder: Path) -> str:
    """One of two Dask workers is killed within a sweep."""
    with _running_sweep(folder) as (cluster, process):
        cluster.workers[0].kill()
        out, told = process.communicate(timeout=150)
    must(process.returncode == 0, told[-300:])
    must(out == engine(*SWEEP, *GRID).stdout, "other results than without a cluster")
    return "the same bytes as without a cluster"


def scheduler_goes(folder: Path) -> str:
    """The Dask scheduler is killed within a sweep."""
    with _running_sweep(folder) as (cluster, process):
        cluster.scheduler.kill()
        begun = time.monotonic()
        out, told = process.communicate(timeout=150)
    done = subprocess.CompletedProcess([], process.returncode, out, told)
    must(is_refused(done), told[:1500])
    return f"told after {time.monotonic() - begun:.0f} s"


@contextmanager
def _running_sweep(folder: Path) -> Iterator[tuple[Cluster, subprocess.Popen]]:
    cluster = Cluster(folder)
    try:
        for _ in range(2):
            cluster.add_worker()
        arguments = [*SWEEP, *GRID, "--scheduler", cluster.address]
        command = [sys.executable, "-m", "engine", *map(str, arguments)]

        def started() -> bool:  # both workers are there, and the sweep has begun
            logs = [path.read_text() for path in folder.glob("worker-*.log")]
            return sum("Registered to" in log for log in logs) == 2

        wait_for(started)
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(5.0)
            must(process.poll() is None, "the sweep was over before the fault")
            yield cluster, process
    finally:
        cluster.stop()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of a megabyte, most of which is taken."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode:
        raise Skipped("a tmpfs cannot be mounted here")
    try:
        (folder / "filler").write_bytes(bytes(980_000))
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def disk_is_full(folder: Path) -> str:
    """What is written on a full disk is refused, and what is only kept there is not missed."""
    trace = folder / "trace.csv"
    trace.write_text(TRACE)
    disk = folder / "disk"
    disk.mkdir()
    simulate = ("simulate", trace, "-M", 500, "--policy", "vllm")
    usual = engine(*simulate).stdout
    with small_disk(disk):
        for command in (
            ("generate", "--n", 20_000, "-o", disk / "out.csv"),
            ("report", trace, "-M", 500, "--policy", "svf", "--output", disk / "out.html"),
            (*simulate, "--per-request", disk / "full" / "out.csv"),
        ):
            must(is_refused(done := engine(*command)), f"{command[0]}: {done.stderr[-300:]}")
        done = engine(*simulate, NUMBA_CACHE_DIR=f"{disk}/kernels")
        must(done.stdout == usual, f"kernels: {done.stderr[-300:]}")
        litter = [path.name for path in disk.rglob("*.new")]
        must(not litter, f"left in the cache: {litter}")
        with (
            served(HEADROOM_HOME=f"{disk}/home") as (address, _),
            Session(address) as visitor,
        ):
            visitor.open(n="60")
            visitor.set("save name", string_value="full")
            repaint = visitor.press("Save this view")
            must(repaint is not None and not repaint.exceptions, f"{repaint}")
            repaint = visitor.open("Saved", n="60")
            must(not repaint.exceptions, f"{repaint.exceptions}")
    return "files are refused, kernels compiled and not kept, pages drawn"


def clock_is_wrong(folder: Path) -> str:
    """The clock of the system is far away, and is set while a server runs."""
    if not FAKETIME:
        raise Skipped("libfaketime is not installed")
    trace = folder / "trace.csv"
    trace.write_text(TRACE)
    simulate = ("simulate", trace, "-M", 500, "--policy", "svf", "--bound", "fluid")
    usual = engine(*simulate).stdout
    preload = {"LD_PRELOAD": str(FAKETIME[0]), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    for moment in CLOCKS:
        done = engine(*simulate, FAKETIME=f"@{moment}", **preload)
        must(done.stdout == usual, f"{moment}: {done.stderr[-300:]}")
    setting = folder / "clock"
    setting.write_text("+0")
    home = {"HEADROOM_HOME": str(folder / "home"), "FAKETIME_NO_CACHE": "1"}
    with (
        served(FAKETIME_TIMESTAMP_FILE=str(setting), **preload, **home) as (address, _),
        Session(address) as visitor,
    ):
        for number, shift in enumerate(("+0", "+400d", "-20000d", "+0")):
            setting.write_text(shift)
            for page in ("", "Saved"):
                repaint = visitor.open(page, n="60", seed=number)
                must(not repaint.exceptions, f"{shift}: {repaint.exceptions}")
            visitor.open(n="60", seed=number)
            _save(visitor, shift)
        visitor.open("Saved", n="60")
        must("4 views" in visitor.headline, visitor.headline)
    return f"the same at {len(CLOCKS)} other times; four saves across three jumps"


def compiled_at_once(folder: Path) -> str:
    """Three processes compile the same kernels into one empty cache."""
    trace = folder / "trace.csv"
    trace.write_text(TRACE)
    command = [sys.executable, "-m", "engine", "simulate", str(trace), "-M", "500"]
    command += ["--policy", "svf", "--policy", "vllm", "--bound", "fluid"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "kernels")}
    with tempfile.TemporaryFile() as told:
        processes = [
            subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=told
            )
            for _ in range(3)
        ]
        said = {process.communicate(timeout=180)[0] for process in processes}
    must([process.returncode for process in processes] == [0, 0, 0], "one of them failed")
    must(len(said) == 1, "they do not say the same")
    again = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
    must({again.stdout} == said, "the next one says something else")
    must(b"compiling" not in again.stderr, "the next one compiles again")
    return "three say the same, and the next one finds all compiled"


FAULTS: dict[str, Callable[[Path], str]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        database_goes, worker_goes, scheduler_goes, disk_is_full, clock_is_wrong, compiled_at_once,
    )
}  # fmt: skip


def happen(name: str) -> tuple[str, str]:
    """`held`, `skipped` or `FAILED`, and what there is to say."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return "held", FAULTS[name](Path(folder))
        except Skipped as reason:
            return "skipped", str(reason)
        except (Failed, AssertionError, TimeoutError) as problem:
            return "FAILED", str(problem)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", nargs="*", default=list(FAULTS), choices=list(FAULTS))
    for name in parser.parse_args().faults:
        print(f"{name}: {': '.join(happen(name))}", flush=True)


if __name__ == "__main__":
    main()
