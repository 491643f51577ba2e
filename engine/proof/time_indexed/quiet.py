"""HiGHS without its banner, which would land among the results on stdout."""

from __future__ import annotations

import ctypes
import os
import time
from functools import cache

from engine.errors import InputError

PAUSE = 0.1  # seconds between reports


@cache
def quiet_solver():
    """`pulp.HiGHS`, after the banner of the process's first solver went nowhere.

    HiGHS prints two lines when a process makes its first solver, whatever its options
    say. C's own buffer is emptied before stdout is given back.

    Raises
    ------
    InputError
        When PuLP or HiGHS is not installed.
    """
    try:
        import highspy  # slow to import
        import pulp  # slow to import
    except ImportError as missing:
        raise InputError(
            f"this bound needs the solver {missing.name}: install it, or use the bound fluid"
        ) from missing

    if os.name == "posix":
        stdout, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        try:
            highspy.Highs()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)
            os.close(nowhere)
    return pulp.HiGHS


def run_reporting(solver, seconds: float, report) -> None:
    """Run a highspy solver in a thread; report the share of `seconds` that has passed.

    When a report raises the solver is told to stop, and is waited for.
    """
    begun = time.monotonic()
    solver.HandleUserInterrupt = True
    thread = solver.startSolve()
    try:
        while thread.is_alive():
            thread.join(PAUSE)
            report(min(1.0, (time.monotonic() - begun) / seconds))
    except BaseException:
        solver.cancelSolve()
        raise
    finally:
        thread.join()
