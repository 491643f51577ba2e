"""A sweep on a Dask cluster: the client of a scheduler somebody else started.

Dask gives the pieces of a lost worker to another one. That a worker has this engine, in this
version, is asked before the sweep and again with each task.
"""

from __future__ import annotations

import gc
import logging
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from engine.errors import InputError
from engine.progress import Progress
from engine.scale_out.sweep import TICK, Sweep, done_of
from engine.scale_out.worker import TaskOutcome, by_value
from engine.version import version

try:
    import dask
    from distributed import Client, Future, KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError
except ImportError:
    raise InputError(
        "a sweep on a cluster needs Dask: pip install 'headroom[cluster]', or leave the scheduler "
        "out to use this machine's cores"
    ) from None

# What goes wrong is told here in a sentence; Dask writes tracebacks of its own clean-up beside it.
for _name in ("distributed", "distributed.client", "tornado.application"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

CONNECT = 5.0  # seconds until a scheduler counts as absent
TASKS = 16  # for each thread of a worker
PATIENCE = 30.0  # seconds without any worker until the sweep is given up
HOW_TO = "start one with `dask worker ADDRESS` in a folder that holds this engine"


LOST = "the scheduler was lost while the sweep ran: start it again"


def run_on_cluster(sweep: Sweep, address: str, progress: Progress) -> Iterator[tuple[int, Any]]:
    """As `run_all`."""
    try:
        yield from _run(sweep, address, progress)
    except CommClosedError:  # whatever was asked of it just then
        raise InputError(LOST) from None


def _run(sweep: Sweep, address: str, progress: Progress) -> Iterator[tuple[int, Any]]:
    with _client(address) as client:
        waiting: dict[Future, range] = {}
        left = len(sweep)
        try:
            finished: SimpleQueue[Future] = SimpleQueue()
            waiting = _submit(client, sweep)
            alone = _Patience(client)
            for future in waiting:
                future.add_done_callback(finished.put)
            while waiting:
                progress(1 - left / len(sweep), done_of(len(sweep) - left, sweep))
                done = _next(finished)
                alone.check()
                for future, results in zip(done, _results(client, done), strict=True):
                    left -= len(results)
                    yield from zip(waiting.pop(future), results, strict=True)
            progress(1.0, done_of(len(sweep), sweep))
        finally:
            client.cancel(list(waiting))


def _connected(address: str) -> Client | None:
    """A client; None, and nothing that still holds it, where no scheduler answers."""
    try:
        return Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError):
        return None


@contextmanager
def _client(address: str) -> Iterator[Client]:
    """Connected, the workers known to have this engine; closed at the end."""
    client = _connected(address)
    if client is None:
        # One that never connected closes when it is collected. If that happened while the next
        # one starts, both would wait for one lock of distributed's for ever: collect it now.
        gc.collect()
        raise InputError(
            f"no Dask scheduler answers at {address} (an address looks like "
            "tcp://10.0.0.5:8786): start it with `dask scheduler`, or leave the address out"
        )
    with client:
        _check_workers(client, address)
        yield client


def _check_workers(client: Client, address: str) -> None:
    """InputError where there is no worker, or one that would not give the same results."""
    if not client.scheduler_info(n_workers=-1)["workers"]:
        raise InputError(f"the scheduler at {address} has no workers: {HOW_TO}")
    engine_there, _ = by_value()
    answers = client.run(engine_there, on_error="return")
    for worker, theirs in answers.items():
        if isinstance(theirs, OSError):  # it is lost meanwhile: others do its work
            continue
        if isinstance(theirs, Exception):
            raise theirs
        _check_version(theirs, worker)
    if all(isinstance(theirs, OSError) for theirs in answers.values()):
        raise InputError(f"all workers of the scheduler at {address} are lost: {HOW_TO}")


def _check_version(theirs: str | None, worker: str) -> None:
    if theirs is None:
        raise InputError(f"the worker {worker} lacks this engine: {HOW_TO}")
    if theirs != version():
        raise InputError(
            f"the worker {worker} has another version of the engine ({theirs}, here {version()}): "
            "give all the same"
        )


def _submit(client: Client, sweep: Sweep) -> dict[Future, range]:
    """The tasks, each with the indices of its items: few enough that Dask's own work is little.

    What they share is a task too, and not data that is scattered: if the worker that holds it is
    lost, Dask makes it again.
    """
    _, visit = by_value()
    threads = max(1, sum(client.ncores().values()))  # 0: all are lost by now
    size = max(1, len(sweep) // (TASKS * threads))
    pieces = [range(first, min(first + size, len(sweep))) for first in range(0, len(sweep), size)]
    payload = pickle.dumps((sweep.do, sweep.shared))
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        shared = client.submit(bytes, payload, pure=False)
        items = [pickle.dumps([sweep.items[number] for number in piece]) for piece in pieces]
        futures = client.map(visit, [shared] * len(items), items, asked=version(), pure=False)
    return dict(zip(futures, pieces, strict=True))


def _next(finished: SimpleQueue) -> list[Future]:
    """Those that have finished by now, none within a tick."""
    done = []
    try:
        done.append(finished.get(timeout=TICK))
        while True:
            done.append(finished.get_nowait())
    except Empty:
        return done


class _Patience:
    """Waits for a worker only so long: those that were lost may be started again."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._since = time.monotonic()

    def check(self) -> None:
        if self._client.scheduler_info(n_workers=1)["workers"]:
            self._since = time.monotonic()
        elif time.monotonic() - self._since > PATIENCE:
            raise InputError(f"all workers of the scheduler are lost: {HOW_TO}")


def _results(client: Client, done: list[Future]) -> list[list]:
    try:
        outcomes: list[TaskOutcome] = client.gather(done)
    except (FutureCancelledError, CommClosedError):
        raise InputError(LOST) from None
    except KilledWorker:
        raise InputError(
            "workers were lost again and again at the same piece of the sweep: give them more "
            "memory, or fewer threads each"
        ) from None
    for outcome in outcomes:
        if outcome.problem is not None:
            raise outcome.problem
        _check_version(outcome.version, "that took a piece")
    return [list(outcome.results) for outcome in outcomes]
