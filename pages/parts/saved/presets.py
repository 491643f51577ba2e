"""The presets of the user's own: what a round lasts on servers that somebody measured."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from engine.machine.preset import COEFFICIENTS, Preset


def tell_presets(presets: Mapping[str, Preset]) -> None:
    """A table; the sidebar renames, exports and deletes the one that is in use."""
    if not presets:
        return
    st.markdown("## Presets of your own")
    rows = [
        {"Name": preset.title, "Round times (s)": _round_times(preset), "Fit": preset.fit}
        for preset in presets.values()
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="The presets of your own")
    st.caption(
        "Choose one under Clock in the sidebar to use, rename, export or delete it. The Trace "
        "audit page makes one of a benchmark."
    )


def _round_times(preset: Preset) -> str:
    pairs = zip(COEFFICIENTS, preset.clock.step, strict=True)
    return ", ".join(f"{name} = {value:g}" for name, value in pairs)
