"""Where sweeps run: on this machine's cores, or on a Dask cluster.

The address is not in the link: who follows a link should not be sent to somebody else's cluster,
whose answers are unpacked here. Who serves many visitors fixes it with HEADROOM_SCHEDULER.
"""

from __future__ import annotations

import os

import streamlit as st

from engine.scale_out import CORES, SCHEDULER, where
from pages.parts.literal import literal

KEPT = "scheduler kept"  # in the session, also while other pages are shown


def ask_where() -> str:
    """What `run_all` takes."""
    fixed = os.environ.get(SCHEDULER)
    with st.expander("Where sweeps run", icon=":material/lan:"):
        if fixed is not None:
            st.caption(f"On {literal(_told(where(fixed)))}, as {SCHEDULER} says.")
            return where(fixed)
        address = st.text_input(
            "Dask scheduler",
            value=st.session_state.get(KEPT, ""),
            placeholder="tcp://10.0.0.5:8786; empty: this machine's cores",
            help="Maps, rates and days are then computed by the workers of that cluster, with the "
            "same results. Give only one that you trust. It is not part of the link.",
        )
    st.session_state[KEPT] = address.strip()
    return where(address.strip())


def _told(on: str) -> str:
    return "this machine's cores" if on == CORES else f"the cluster at {on}"
