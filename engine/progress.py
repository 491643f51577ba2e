"""How long work tells how far it is. A report that raises stops the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Progress = Callable[..., None]  # the share done, and what there is to tell by then
Result = TypeVar("Result")


class Found(str, Generic[Result]):
    """What a search tells when it found something better: a sentence that carries it.

    Whoever listens may stop the search and keep it.

    Attributes
    ----------
    run : the best so far; a policy tells of its schedule, which `when_found` makes a run
    """

    run: Result

    def __new__(cls, sentence: str, run: Result) -> Found[Result]:
        carrier = super().__new__(cls, sentence)
        carrier.run = run
        return carrier


def silent(_share_done: float, _sentence: str = "") -> None:
    """A report nobody listens to."""


def when_found(progress: Progress, completed: Callable[[Any], Any]) -> Progress:
    """A report that passes on what a search finds as `completed` makes of it."""

    def report(share: float, sentence: str = "") -> None:
        if isinstance(sentence, Found):
            sentence = Found(sentence, completed(sentence.run))
        progress(share, sentence)

    return report
