"""HiGHS without its banner, which would land among the results on stdout."""

from __future__ import annotations

import ctypes
import os
from functools import cache


@cache
def quiet_solver():
    """`pulp.HiGHS`, after the banner of the process's first solver went to stderr.

    HiGHS prints two lines when a process makes its first solver, whatever its options
    say. C's own buffer is emptied before stdout is given back.
    """
    import highspy
    import pulp

    if os.name == "posix":
        stdout = os.dup(1)
        os.dup2(2, 1)
        try:
            highspy.Highs()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)
    return pulp.HiGHS
