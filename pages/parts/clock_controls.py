"""The clock: rounds, or seconds on a GPU whose round times are known and can be edited."""

from __future__ import annotations

import streamlit as st

from engine.clock import ROUNDS, Clock, seconds_clock
from engine.hardware import Preset, presets
from pages.parts.link import forget, linked

FIELDS = {  # name: (label, how many of its unit a second has, help)
    "c0": ("c0 (ms)", 1e3, "A round takes this long anyway: reading the weights."),
    "c1": ("c1 (µs a token)", 1e6, "For each token of the round beyond N0: computing."),
    "N0": ("N0 (tokens)", 1.0, "So many tokens ride along while the weights are read."),
    "c2": ("c2 (ns a token)", 1e9, "For each token of KV cache that is read."),
    "c3": ("c3 (µs a request)", 1e6, "For each request that decodes."),
}


def ask_preset() -> Preset | None:
    """Whose seconds to count; None for rounds."""
    titles = {"rounds": "Rounds (the papers' model)"}
    titles |= {key: preset.title for key, preset in presets().items()}
    key = st.selectbox(
        "Clock",
        titles,
        format_func=titles.get,
        on_change=forget,
        args=(FIELDS,),
        help="Rounds: every batch iteration counts 1. A GPU: iterations take the seconds that its "
        "round times say, and arrivals are in seconds.",
        **linked("clock", "rounds", options=titles),
    )
    return presets().get(key)


def ask_round_times(preset: Preset | None) -> Clock:
    """The clock of a preset, with coefficients to edit."""
    if preset is None:
        return ROUNDS
    with st.expander("Round times", icon=":material/timer:"):
        error = f", mean error {preset.error_percent:g} %" if preset.error_percent else ""
        st.caption(
            f"T = c0 + c1·max(0, N − N0) + c2·K + c3·B for N tokens in the round, K tokens of KV "
            f"cache read and B requests decoding. Fit: {preset.fit}{error}."
        )
        given = []
        for (name, (label, units, told)), value in zip(
            FIELDS.items(), preset.clock.step, strict=True
        ):
            default = round(value * units, 9)
            asked = st.number_input(
                label,
                0.0,
                1e6,
                format="%.5g",
                help=told,
                **linked(name, default, float, low=0.0, high=1e6),
            )
            given.append(value if asked == default else asked / units)
    return seconds_clock(*given)
