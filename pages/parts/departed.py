"""Visitors who have closed the page: what was theirs goes within minutes, though nobody else comes.

streamlit keeps the session of a closed connection for a while, as it may be back after a moment
without network, and drops it when the next one closes: the last one's stays for ever, with the
trace that it has uploaded. Results are kept for the next visitor, longer than for nobody.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from functools import cache
from typing import Any

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.capacity.carried import keeps_up_with
from engine.proof.busy_periods import busy_periods
from pages.parts.settled import settle_again
from pages.parts.store import store, uploads

LOG = logging.getLogger("headroom.pages")
MARGIN = 1.0  # seconds after streamlit's own, until a session is certainly too old


def notice() -> None:
    """Begin a run of a page: this visitor is here, and it will be noticed when it has gone."""
    run = get_script_run_ctx()
    if run is not None:
        _presence(run.session_id)


class Departures:
    """Those who have left of late. Many who leave together are cleared away together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: list[tuple[float, str, weakref.ref | None]] = []
        self._timer: threading.Timer | None = None

    def add(self, visitor: str) -> None:
        """The connection of this visitor is closed."""
        kept = _sessions().get_session_info(visitor)
        session = None if kept is None else weakref.ref(kept.session)
        patience = st.get_option("server.disconnectedSessionTTL") + MARGIN
        with self._lock:
            self._left.append((time.monotonic() + patience, visitor, session))
            self._wait()

    def _wait(self) -> None:
        """Until all who have left by now are too old."""
        if self._timer is None and self._left:
            last, _, _ = max(self._left, key=lambda left: left[0])
            self._timer = threading.Timer(last - time.monotonic(), self._on_time)
            self._timer.daemon = True
            self._timer.start()

    def _on_time(self) -> None:
        with self._lock:
            moment = time.monotonic()
            due = [left for left in self._left if left[0] <= moment]
            self._left = [left for left in self._left if left[0] > moment]
            self._timer = None
            self._wait()
        _clear_away([(visitor, session) for _, visitor, session in due])


@cache
def departures() -> Departures:
    """Those from this server."""
    return Departures()


def _gone(visitor: str) -> None:
    store().leave(visitor)
    uploads().leave(visitor)
    if exists():  # else the pages are drawn without a server
        departures().add(visitor)


@st.cache_resource(show_spinner=False, scope="session", on_release=_gone)
def _presence(visitor: str) -> str:
    """Something that streamlit releases when the connection closes."""
    return visitor


def _sessions() -> Any:
    """streamlit's sessions, open ones and those whose visitors may be back."""
    return get_instance()._session_mgr


def _clear_away(visitors: list[tuple[str, weakref.ref | None]]) -> None:
    sessions = _sessions()
    try:
        sessions._session_storage._cache.expire()  # nothing public does it
    except AttributeError as problem:
        LOG.warning("sessions of closed pages stay in memory: %r", problem)
    for visitor, session in visitors:
        left_over = None if session is None else session()
        if left_over is not None and sessions.get_session_info(visitor) is None:
            left_over.shutdown()  # streamlit's loop holds on to the one that it saw last
            left_over.session_state.clear()
    for kept in (busy_periods, keeps_up_with):  # of requests that nobody may have any more
        kept.cache_clear()
    settle_again()
