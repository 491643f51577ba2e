"""The database of what users keep: the one that this server uses, or a visit's own in memory.

A URL in .streamlit/secrets.toml (`[connections.saved]`, `url = "postgresql://…"`) or in
HEADROOM_DATABASE names a PostgreSQL database; without one it is a SQLite file of the user's own.
In public no visitor gets at it (engine/mode.py).
"""

from __future__ import annotations

import os

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from engine.database import DATABASE, Database, connected, kept_by
from engine.mode import current_mode
from engine.saved import Keeping


def _of_visit() -> Database | None:
    """What this visit alone has, where visitors share nothing; it goes with the session."""
    if current_mode().is_shared:
        return None
    if "own database" not in st.session_state:
        st.session_state["own database"] = Database.in_memory()
    own: Database = st.session_state["own database"]
    return own


kept_by(_of_visit)


def database() -> Database:
    """Where views, presets and large maps are kept."""
    return connected()


def keeping() -> Keeping:
    """The saved views."""
    return Keeping(database())


def follow_secrets() -> None:
    """Let what the server's secrets name, if anything, be the database of the whole program."""
    try:
        named = st.secrets.get("connections", {}).get("saved", {}).get("url")
    except StreamlitSecretNotFoundError:  # there is no such file
        return
    except AttributeError:  # something stands there, but no table
        named = "no URL"
    if named:
        os.environ[DATABASE] = str(named)
