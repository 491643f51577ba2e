"""The small charts of a lesson: a few lines, and a mark where its parameter stands."""

from __future__ import annotations

import plotly.graph_objects as go

from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import DASH, INDIGO, LIMIT_GREY, SOLID, TEAL, policy_style
from engine.figures.ticks import round_numbers
from engine.learn.lesson import Curves
from engine.policy import POLICIES

OTHERS = ((INDIGO, SOLID), (TEAL, DASH))  # lines that are no policy's


def draw_curves(curves: Curves) -> go.Figure:
    """Each line with its points; a label that is a policy's key in that policy's style."""
    figure = go.Figure()
    others = iter(OTHERS)
    for label, (x, y) in curves.lines.items():
        colour, dash = policy_style(label) if label in POLICIES else next(others)
        figure.add_scatter(
            x=x,
            y=y,
            name=label,
            mode="lines+markers" if len(x) <= 20 else "lines",
            line={
                "color": colour,
                "dash": dash,
                "width": 3,
                "shape": "vh" if curves.steps else "linear",
            },
            marker={"size": 8},
            hovertemplate=f"{curves.x} %{{x:,}}<br>{curves.y}: %{{y:,.3~g}}<extra>{label}</extra>",
        )
    if curves.mark is not None:
        figure.add_vline(x=curves.mark, line={"color": LIMIT_GREY, "width": 2, "dash": "dash"})
    kind = "log" if curves.log else "linear"
    figure.update_xaxes(title=curves.x, type=kind)
    figure.update_yaxes(title=curves.y, type=kind, rangemode="normal" if curves.log else "tozero")
    if curves.log:
        heights = [height for _, y in curves.lines.values() for height in y]
        figure.update_xaxes(tickvals=list(next(iter(curves.lines.values()))[0]))
        figure.update_yaxes(tickvals=round_numbers(min(heights), max(heights)))
    lay_out(figure, 340, legend=ABOVE, top=40, showlegend=True, font={"size": 15})
    return figure
