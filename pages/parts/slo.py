"""The service-level objectives that runs are held against."""

from __future__ import annotations

import streamlit as st

from engine.measure.slo import Slo
from pages.parts.fold import Fold
from pages.parts.link import linked


def ask_slo(unit: str) -> Slo:
    """The limits to hold the policies against; none unless given."""
    asked = {
        "ttft": (f"Time to first token ({unit})", "From arrival to the first token."),
        "tpot": (f"Time per output token ({unit})", "Mean, after the first token."),
        "latency": (f"End-to-end latency ({unit})", "From arrival to the last token."),
    }
    with Fold(st.expander, "Service-level objectives (SLO)", icon=":material/flag:") as fold:
        columns = st.columns(3)
        limits = {
            name: fold.control(column.number_input)(
                label,
                0.0,
                value=None,
                placeholder="no limit",
                help=explained,
                format="%.4g",
                **linked(f"slo_{name}", None, float, low=0.0),
            )
            for column, (name, (label, explained)) in zip(columns, asked.items(), strict=True)
        }
    return Slo(**limits)
