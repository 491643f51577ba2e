"""How far each policy is from the best possible, as bars from a dashed grey line."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine import wording
from engine.figures.palette import BOUND_GREY, policy_style
from engine.league import Entry


def draw_gaps(entries: Sequence[Entry]) -> go.Figure:
    """Total latency above the best covering bound, percent; entries without one are left out."""
    shown = [entry for entry in reversed(entries) if entry.gap is not None]
    excess = [100 * (entry.gap - 1) for entry in shown]
    figure = go.Figure(
        go.Bar(
            orientation="h",
            y=[entry.label for entry in shown],
            x=excess,
            marker={"color": [policy_style(entry.run.policy)[0] for entry in shown]},
            text=[wording.gap(entry.gap) for entry in shown],
            textposition="outside",
            cliponaxis=False,
            customdata=[
                [
                    entry.cover.bound,
                    entry.numbers["total_latency"],
                    entry.numbers["total_latency"] / entry.gap,
                ]
                for entry in shown
            ],
            hovertemplate="%{y}: %{text}<br>total latency %{customdata[1]:,.0f} rounds"
            "<br>bound %{customdata[0]}: %{customdata[2]:,.0f} rounds<extra></extra>",
        )
    )
    figure.add_vline(x=0, line={"color": BOUND_GREY, "dash": "dash", "width": 2})
    figure.update_xaxes(
        title="total latency above the certified bound (%)",
        ticksuffix=" %",
        range=[0, 1.18 * max(excess, default=1) + 0.1],
    )
    figure.update_layout(
        height=90 + 44 * len(shown),
        margin={"t": 12, "r": 12, "b": 8, "l": 8},
        showlegend=False,
        bargap=0.35,
    )
    return figure


def describe_gaps(entries: Sequence[Entry]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    told = ", ".join(f"{entry.label} {wording.gap(entry.gap)}" for entry in entries)
    return f"Total latency above the certified bound: {told}."
