"""How long work tells how far it is. A report that raises stops the work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[..., None]  # the share done, and what there is to tell by then


def silent(_share_done: float, _told: str = "") -> None:
    """A report nobody listens to."""
