"""Arrivals over a whole trace, small: the window looked at stands out, a brush picks another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from engine import wording
from engine.figures.palette import BOUND_GREY, class_colour

HEIGHT = 130
NAMED = 3  # moments on the axis


def draw_arrivals(
    count: np.ndarray, steps: Sequence[float], names: Sequence[str], between: tuple[float, float]
) -> go.Figure:
    """How many requests arrive from each step to the next, those in the window coloured.

    Parameters
    ----------
    count : (k - 1,) requests from each step to the next
    steps, names : k ascending seconds, k >= 2, and what they are called
    between : the window, seconds
    """
    edges = np.asarray(steps)
    inside = (edges[:-1] >= between[0]) & (edges[1:] <= between[1])
    figure = go.Figure(
        go.Bar(
            x=(edges[1:] + edges[:-1]) / 2,
            y=count,
            width=np.diff(edges),
            marker={
                "color": np.where(inside, class_colour(1), BOUND_GREY),
                "opacity": np.where(inside, 1.0, 0.45),
                "line": {"width": 0},
            },
            customdata=np.column_stack([names[:-1], names[1:]]),
            hovertemplate="%{y:,} requests<br>%{customdata[0]} to %{customdata[1]}<extra></extra>",
        )
    )  # fmt: skip
    named = np.linspace(0, len(steps) - 1, NAMED).astype(int)
    figure.update_xaxes(
        tickvals=edges[named], ticktext=[names[at] for at in named], range=[edges[0], edges[-1]]
    )
    figure.update_yaxes(visible=False, fixedrange=True)
    figure.update_layout(
        height=HEIGHT,
        margin={"t": 4, "r": 24, "b": 4, "l": 24},
        bargap=0,
        dragmode="select",
        selectdirection="h",
        showlegend=False,
    )
    return figure


def describe_arrivals(count: np.ndarray, first: str, last: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    return (
        f"Arrivals over the whole trace: from {wording.count(count.min())} to "
        f"{wording.count(count.max())} in a step; looked at from {first} to {last}."
    )
