"""The one way to run a sweep: in this thread, on this machine's cores or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from engine.progress import Progress, silent
from engine.scale_out.sweep import Sweep, done_of

HERE = "here"  # one piece after another, in this thread
CORES = "cores"  # of this machine
SCHEDULER = "HEADROOM_SCHEDULER"  # the environment variable for those who give no address


def run_all(sweep: Sweep, on: str = HERE, progress: Progress = silent) -> Iterator[tuple[int, Any]]:
    """(index of the item, its result), each as soon as it is there.

    A progress that raises, and an iterator that is closed, stop the sweep: nothing of it goes
    on running.

    Parameters
    ----------
    on : HERE, CORES, or the address of a Dask scheduler, such as tcp://10.0.0.5:8786

    Raises
    ------
    InputError
        The first that a piece raises; where the scheduler cannot be used, what to do about it.
    """
    if on == HERE or (on == CORES and len(sweep) < 2):
        return _one_by_one(sweep, progress)
    if on == CORES:
        from engine.scale_out.on_cores import run_on_cores  # Dask takes a moment to import

        return run_on_cores(sweep, progress)
    from engine.scale_out.on_cluster import run_on_cluster  # Dask may be missing

    return run_on_cluster(sweep, on, progress)


def where(scheduler: str | None = None) -> str:
    """Where to run: at the scheduler that is given or else set, or on this machine's cores.

    What a scheduler sends is unpickled here: who names one runs code in this process. So only
    who starts the process may, by its arguments or its environment; never a visitor of a page.
    """
    return scheduler or os.environ.get(SCHEDULER) or CORES


def _one_by_one(sweep: Sweep, progress: Progress) -> Iterator[tuple[int, Any]]:
    for number, item in enumerate(sweep.items):

        def step(share: float, sentence: str = "", number=number) -> None:
            progress((number + share) / len(sweep), sentence or done_of(number, sweep))

        step(0.0)
        yield number, sweep.do(sweep.shared, item, step)
    progress(1.0, done_of(len(sweep), sweep))
