"""How long work tells how far it is. A report that raises stops the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.simulate.run import Run

Progress = Callable[..., None]  # the share done, and what there is to tell by then


class Found(str):
    """What a search tells when it found something better: a sentence that carries the run.

    Whoever listens may stop the search and keep it.

    Attributes
    ----------
    run : the best run so far
    """

    run: Run

    def __new__(cls, sentence: str, run: Run) -> Found:
        told = super().__new__(cls, sentence)
        told.run = run
        return told


def silent(_share_done: float, _told: str = "") -> None:
    """A report nobody listens to."""


def when_found(progress: Progress, completed: Callable[[Run], Run]) -> Progress:
    """A report that passes on what a search finds as `completed` makes of it."""

    def told(share: float, what: str = "") -> None:
        progress(share, Found(what, completed(what.run)) if isinstance(what, Found) else what)

    return told
