"""What this server allows its visitors, put to work: Streamlit's own settings, turns at jobs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit import config

from engine.errors import InputError
from engine.mode import current_mode
from engine.places import Places
from engine.progress import Progress
from pages.parts.literal import literal

LOG = logging.getLogger("headroom.mode")
UPLOAD = "server.maxUploadSize"


def follow_mode() -> None:
    """Tell Streamlit what the mode asks of it; no page at all where nobody knows the rules."""
    try:
        mode = current_mode()
    except InputError as problem:
        LOG.error("%s", problem)
        st.error(literal(problem), icon=":material/settings:")
        st.stop()
    for name, value in mode.settings.items():
        # Here too, as `streamlit run app.py` knows no mode when it starts; an upload looks then.
        stricter = min(value, config.get_option(name)) if name == UPLOAD else value
        if config.get_option(name) != stricter:
            config.set_option(name, stricter, "the mode of this server")


@st.cache_resource(show_spinner=False)
def _places(most: int) -> Places:
    """The places for jobs of this server."""
    return Places(most)


def in_turn(title: str, seconds: float, compute: Callable[[Progress], Any], progress: Progress):
    """The result of a job that takes so long by its estimate, as far as the mode allows it.

    Raises
    ------
    InputError
        Where it takes too long, by its estimate or in fact, or no place becomes free.
    """
    mode = current_mode()
    mode.check_jobs({title: seconds})
    if mode.jobs is None:
        return compute(progress)
    with _places(mode.jobs).taken(progress):
        return compute(mode.stopping(title, progress))
