"""How long a repaint takes where many visitors change a control at once.

`python -m tests.endurance.twenty_sessions --sessions 20 --changes 6` starts a server, lets each
session change M on Compare again and again, all at the same time and no two alike, and prints the
wall time until the headline, the chart and the whole page are there, and the processor time that
the server takes for a change. The visitors take some processor time of the same machine.
"""

from __future__ import annotations

import argparse
import threading
import time

import numpy as np

from tests.services.browser import served
from tests.services.process import processor_seconds
from tests.services.session import Repaint, Session


def change(session: Session, number: int, changes: int, start: threading.Barrier, repaints: list):
    """Wait for the others, then change M so many times."""
    start.wait()
    for step in range(changes):
        memory = 15_000 + 100 * number + 7 * step
        repaints.append(session.set("memory", double_value=memory))


def measure(sessions: int, changes: int) -> tuple[list[Repaint], float, float]:
    """The repaints of so many sessions at once; their wall and the server's processor time, s."""
    with served() as (address, process):
        visitors = [Session(address) for _ in range(sessions)]
        for visitor in visitors:
            visitor.open()
            visitor.set("memory", double_value=14_000)
        start, repaints = threading.Barrier(sessions + 1), []
        threads = [
            threading.Thread(target=change, args=(visitor, number, changes, start, repaints))
            for number, visitor in enumerate(visitors)
        ]
        for thread in threads:
            thread.start()
        before, begun = processor_seconds(process.pid), time.monotonic()
        start.wait()
        for thread in threads:
            thread.join()
        wall, spent = time.monotonic() - begun, processor_seconds(process.pid) - before
        for visitor in visitors:
            visitor.close()
    return repaints, wall, spent


def report(sessions: int, repaints: list[Repaint], wall: float, spent: float) -> None:
    """One line a quantity."""
    count = len(repaints)
    print(f"{sessions} sessions, {count} changes of M in {wall:.1f} s:", end=" ")
    print(f"{1000 * spent / count:.0f} ms of the server's processor time a change")
    for name in ("headline", "chart", "page", "settled"):
        taken = [getattr(repaint, name) for repaint in repaints]
        seen = [seconds for seconds in taken if seconds is not None]
        median, late = np.percentile(seen, (50, 90)) if seen else (np.nan, np.nan)
        print(f"  {name}: median {median:.2f} s, P90 {late:.2f} s ({len(seen)} of {count})")
    broken = [text for repaint in repaints for text in repaint.exceptions]
    print(f"  exceptions: {len(broken)}", *broken[:3])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--changes", type=int, default=6)
    arguments = parser.parse_args()
    for sessions in arguments.sessions:
        report(sessions, *measure(sessions, arguments.changes))


if __name__ == "__main__":
    main()
