"""How a server's memory grows with what it is asked, and what is left when all have gone.

`python -m tests.endurance.soak --scenarios 500` lets one visitor after the other look at ten
scenarios on several pages, none like another, closes every connection and waits until what is
kept for visitors who may be back has gone: `--after` seconds, or as it is shipped.
"""

from __future__ import annotations

import argparse
import time

from tests.services.browser import served
from tests.services.process import resident, threads
from tests.services.session import Session

PAGES = ("", "Latency", "Gap_to_Bound", "Memory_Gantt")
EACH = 10  # scenarios a visitor
FIRST = ("chat", "code", "short")


def look(address: str, number: int) -> list[str]:
    """A visitor with scenarios of its own; the exceptions that are shown."""
    shown = []
    with Session(address) as visitor:
        for step in range(EACH):
            scenario = EACH * number + step
            page = PAGES[scenario % len(PAGES)]
            repaint = visitor.open(
                page,
                n=1500 + scenario,
                seed=scenario,
                memory=12_000 + 37 * scenario,
                arrivals=("backlog", "poisson")[scenario % 2],
            )
            shown += repaint.exceptions
    return shown


def soak(scenarios: int, after: float | None) -> None:
    """Print the memory as it grows, and as it comes back."""
    wait = {"HEADROOM_KEEP_SECONDS": f"{after}", "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    with served(**({} if after is None else wait)) as (address, process):
        exceptions = look(address, scenarios)
        print(f"one visitor: {resident(process.pid):.0f} MB, {threads(process.pid)} threads")
        for number in range(scenarios // EACH):
            exceptions += look(address, number)
            if (number + 1) % 10 == 0:
                print(
                    f"{EACH * (number + 1)} scenarios: {resident(process.pid):.0f} MB", flush=True
                )
        print(f"{len(exceptions)} exceptions shown", *exceptions[:3])
        seconds = 480 if after is None else after + 12
        for _ in range(4):
            time.sleep(seconds / 4)
            print(
                f"later: {resident(process.pid):.0f} MB, {threads(process.pid)} threads", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=500)
    parser.add_argument("--after", type=float, help="seconds; as it is shipped if not given")
    arguments = parser.parse_args()
    soak(arguments.scenarios, arguments.after)


if __name__ == "__main__":
    main()
