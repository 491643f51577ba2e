"""The database of what users keep that this server uses.

A URL in .streamlit/secrets.toml (`[connections.saved]`, `url = "postgresql://…"`) or in
HEADROOM_DATABASE names a PostgreSQL database; without one it is a SQLite file of the user's own.
"""

from __future__ import annotations

import os

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from engine.database import DATABASE, Database, connected
from engine.saved import Keeping


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
