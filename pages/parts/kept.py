"""The database of saved views that this server uses.

A URL in .streamlit/secrets.toml (`[connections.saved]`, `url = "postgresql://…"`) or in
HEADROOM_DATABASE names a PostgreSQL database; without one it is a SQLite file of the user's own.
"""

from __future__ import annotations

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from engine.saved import Keeping, database_url


def keeping() -> Keeping:
    """The saved views."""
    return _connected(database_url(_in_secrets()))


@st.cache_resource(show_spinner=False, on_release=lambda kept: kept.close())
def _connected(url: str) -> Keeping:
    return Keeping.at(url)


def _in_secrets() -> str | None:
    try:
        return st.secrets.get("connections", {}).get("saved", {}).get("url")
    except StreamlitSecretNotFoundError:  # there is no such file
        return None
