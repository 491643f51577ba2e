"""What is left of visitors who upload a trace, start long work and close the page.

`python -m tests.endurance.departures --megabytes 50 --visitors 3` starts a server that forgets
closed sessions after `--after` seconds (120 and 300 by default, as it is shipped) and prints its
memory and threads before, with all visitors there, and until both are back.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from tests.services.browser import served
from tests.services.process import processor_seconds, resident, threads
from tests.services.session import Session

ROW = "{:.2f},{},{}\n"
IDLE = 0.2  # of one core: below it no work goes on


@dataclass(frozen=True)
class State:
    """Of the server.

    Attributes
    ----------
    memory : megabytes
    threads : how many
    busy : of one core, over a second
    """

    memory: float
    threads: int
    busy: float

    def __str__(self) -> str:
        return f"{self.memory:.0f} MB, {self.threads} threads, {100 * self.busy:.0f} % of a core"


def state(process: int) -> State:
    """As it is now; takes a second."""
    before = processor_seconds(process)
    time.sleep(1.0)
    busy = processor_seconds(process) - before
    return State(resident(process), threads(process), busy)


def trace(megabytes: float) -> bytes:
    """A canonical CSV of about that size."""
    rows = [ROW.format(k / 100, 100 + k % 900, 10 + k % 90) for k in range(int(65_000 * megabytes))]
    return ("arrival,prompt,output\n" + "".join(rows)).encode()


def leave_work(address: str) -> None:
    """Start a study that takes minutes, and go."""
    with Session(address) as visitor:
        visitor.open("Uncertainty", n="50000")
        visitor.press("Run the study", wait=False)
        time.sleep(2.0)


def measure(
    megabytes: float, visitors: int, after: float | None
) -> Iterator[tuple[float | None, str, State]]:
    """The states of a server before, during and after such visits.

    Each with the seconds since all have left, if they have, and what has happened.
    """
    wait = {"HEADROOM_KEEP_SECONDS": f"{after}", "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    with served(**({} if after is None else wait)) as (address, process):
        with Session(address) as first:
            first.open()
        yield None, "one visitor has come and gone", state(process.pid)
        content = trace(megabytes)
        with ExitStack() as open_pages:
            for number in range(visitors):
                visitor = open_pages.enter_context(Session(address))
                visitor.open(**{"from": "upload"})
                visitor.upload(f"{number}.csv", content + f"{number},1,1\n".encode())
            yield None, f"{visitors} uploads of {megabytes:g} MB", state(process.pid)
            leave_work(address)
        begun = time.monotonic()
        step = 60.0 if after is None else 1.0
        for _ in range(12):
            yield time.monotonic() - begun, "all have left", state(process.pid)
            time.sleep(step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--visitors", type=int, default=3)
    parser.add_argument("--after", type=float, help="seconds; as it is shipped if not given")
    arguments = parser.parse_args()
    for seconds, what, reading in measure(*vars(arguments).values()):
        when = "" if seconds is None else f", {seconds:.0f} s ago"
        print(f"{what}{when}: {reading}", flush=True)


if __name__ == "__main__":
    main()
