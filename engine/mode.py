"""Who may do what on a server of the dashboard: one person, a team, or strangers.

Whoever starts the server names one of the three in HEADROOM_MODE; no page and no link can change
it. What each protects, and what it does not, is in docs/threat_model.md. Commands other than the
dashboard are the work of whoever types them: no mode limits those.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine import wording
from engine.errors import InputError
from engine.progress import Progress
from engine.traces.ceilings import Ceilings

MODE = "HEADROOM_MODE"  # the environment variable that names a mode
AT_HOME = "run Headroom on a machine of your own, where there is no such limit"
VISIT = "for this visit alone, until the page is closed or reloaded"


@dataclass(frozen=True)
class Mode:
    """What visitors of a server may do.

    Attributes
    ----------
    name : single, team or public
    is_shared : views, presets and large maps lie in the database, which all visitors see, rename
        and delete; else each visit keeps views and presets in memory, and maps are not kept
    upload_megabytes : of a file that is dropped
    ceilings : of what is read from it; None for those of engine/traces/ceilings.py
    requests : that may be simulated
    cells : of a map of two parameters
    estimate : seconds that a job may take by its estimate
    seconds : after which a job that takes longer is stopped
    search : seconds of work that a policy which searches may be given
    jobs : under way at once, over all visitors; a visit works off its own one after another
    kept_in_words, listed_in_words, deleted_in_words : what a visitor must know of what is saved,
        where it is saved, listed and deleted, if anything
    audience : for whom a preset is kept
    error_details : of a defect of ours, on the page; its log always has all
    """

    name: str
    is_shared: bool = True
    upload_megabytes: int = 250
    ceilings: Ceilings | None = None
    requests: float = math.inf
    cells: float = math.inf
    estimate: float = math.inf
    seconds: float = math.inf
    search: float = math.inf
    jobs: int | None = None
    kept_in_words: str = ""
    listed_in_words: str = ""
    deleted_in_words: str = ""
    audience: str = "for everybody who uses this server or its database"
    error_details: str = "type"

    def check_upload(self, size: int) -> None:
        """InputError for a file of so many bytes that it may not be read."""
        if size > self.upload_megabytes * 2**20:
            raise InputError(
                f"this server takes files of up to {self.upload_megabytes} MB: give a part of it, "
                f"or {AT_HOME}"
            )

    def check_requests(self, count: float) -> None:
        """InputError for more requests than may be simulated."""
        if count > self.requests:
            raise InputError(
                f"this public server simulates up to {self.requests:,.0f} requests at a time, and "
                f"these are {count:,.0f}: take fewer, or {AT_HOME}"
            )

    def check_cells(self, count: int) -> None:
        """InputError for a map of more cells than are computed."""
        if count > self.cells:
            raise InputError(
                f"this public server computes maps of up to {self.cells:,.0f} cells, and this has "
                f"{count:,}: take fewer a side, or {AT_HOME}"
            )

    def check_jobs(self, estimates: Mapping[str, float]) -> None:
        """InputError where jobs, by title, take too long by their estimates (seconds)."""
        long = {title: seconds for title, seconds in estimates.items() if seconds > self.estimate}
        if long:
            listed = ", ".join(
                f"{title} (about {wording.number(float(f'{seconds:.2g}'))} s)"
                for title, seconds in long.items()
            )
            raise InputError(
                f"this public server runs jobs of up to {self.estimate:g} s, which is too short "
                f"for {listed}: ask for less, or {AT_HOME}"
            )

    def check_search(self, budgets: Mapping[str, float]) -> None:
        """InputError where policies, by name, are to search for too long (seconds)."""
        long = ", ".join(name for name, seconds in budgets.items() if seconds > self.search)
        if long:
            raise InputError(
                f"this public server gives a search up to {self.search:g} s: set the seconds of "
                f"{long} lower, or {AT_HOME}"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """What Streamlit itself is told beyond .streamlit/config.toml, by its options' names."""
        if self == SINGLE:
            return {}
        return {
            "server.maxUploadSize": self.upload_megabytes,
            "server.enableXsrfProtection": True,
            "server.enableStaticServing": False,
            "server.enableAgentApi": False,
            "server.fileWatcherType": "none",
            "client.showErrorDetails": self.error_details,
            "browser.gatherUsageStats": False,
        }

    def stopping(self, title: str, progress: Progress) -> Progress:
        """A report of a job that begins at this moment, and is stopped when its time is over."""
        end = time.monotonic() + self.seconds

        def report(share: float, sentence: str = "") -> None:
            if time.monotonic() > end:
                raise InputError(
                    f"this public server stops {title} after {self.seconds:g} s: ask for less, or "
                    f"{AT_HOME}"
                )
            progress(share, sentence)

        return report


SINGLE = Mode("single")
TEAM = Mode(
    "team",
    kept_in_words="Everybody who uses this server sees it, and may rename or delete it.",
    listed_in_words="Everybody who uses this server sees what is saved here, and may rename or "
    "delete it.",
    deleted_in_words="Deleted, it goes for everybody who uses this server.",
)
PUBLIC = Mode(
    "public",
    is_shared=False,
    upload_megabytes=10,
    ceilings=Ceilings(100_000_000, 20_000, 10.0, 1_000_000, f"give a part of it, or {AT_HOME}"),
    requests=20_000,
    cells=400,
    estimate=30.0,
    seconds=60.0,
    search=10.0,
    jobs=2,
    kept_in_words=f"It is kept {VISIT}; as JSON you can take it away, and the page Saved reads it.",
    listed_in_words=f"What you save is kept {VISIT}; nobody else sees it. As JSON you can take it "
    "away.",
    audience=VISIT,
    error_details="none",
)
MODES = {mode.name: mode for mode in (SINGLE, TEAM, PUBLIC)}


def current_mode() -> Mode:
    """The mode that this server was started in.

    Raises
    ------
    InputError
        For a name that is none: a server whose rules nobody knows must not open.
    """
    name = os.environ.get(MODE) or SINGLE.name
    if name not in MODES:
        raise InputError(f"{MODE} is {name}, and must be one of {', '.join(MODES)}")
    return MODES[name]
