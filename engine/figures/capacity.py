"""The rates that policies carry, each with its interval and its seeds."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine.capacity.rate import Capacity
from engine.figures.layout import lay_out
from engine.figures.palette import LIMIT_GREY, policy_style
from engine.wording import number


def draw_rates(capacities: Sequence[Capacity], present: float, unit: str) -> go.Figure:
    """One row a policy: its rate with the 95 % interval, faint dots for the seeds.

    Parameters
    ----------
    capacities : best first; those without a rate are named and have an empty row
    present : the present rate, marked
    """
    per = unit.removesuffix("s")
    figure = go.Figure()
    for capacity in reversed(capacities):
        colour, _ = policy_style(capacity.choice.key)
        _add_row(figure, capacity, colour, per)
    figure.add_vline(
        x=present,
        line={"color": LIMIT_GREY, "width": 2, "dash": "dot"},
        annotation={"text": f"now {number(present)}", "yanchor": "bottom"},
        annotation_position="top",
        layer="below",
    )
    figure.update_xaxes(title=f"requests a {per}", rangemode="tozero")
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=[capacity.label for capacity in reversed(capacities)],
        automargin=True,
    )
    lay_out(figure, 120 + 40 * len(capacities), top=28)
    return figure


def _add_row(figure: go.Figure, capacity: Capacity, colour: str, per: str) -> None:
    carried = [border.carries for border in capacity.borders]
    figure.add_scatter(
        x=[rate if rate > 0 else None for rate in carried],
        y=[capacity.label] * len(carried),
        mode="markers",
        marker={"color": colour, "size": 7, "opacity": 0.35},
        customdata=capacity.seeds,
        hovertemplate=f"seed %{{customdata}}: %{{x:.4g}} a {per}<extra>{capacity.label}</extra>",
    )
    rate, interval = capacity.rate, capacity.interval
    above = below = 0.0
    said = ""
    if rate is not None and interval is not None:
        low, high = interval
        above, below = high - rate, rate - low
        said = f"<br>95 % interval {number(low)} to {number(high)}"
    figure.add_scatter(
        x=[rate],
        y=[capacity.label],
        mode="markers",
        marker={"color": colour, "size": 13, "symbol": "diamond"},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [above],
            "arrayminus": [below],
            "color": colour,
            "thickness": 2.5,
        },
        hovertemplate=f"%{{x:.4g}} a {per}{said}<extra>{capacity.label}</extra>",
    )


def describe_rates(capacities: Sequence[Capacity], unit: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = ", ".join(f"{capacity.label} {number(capacity.rate)}" for capacity in capacities)
    return f"Largest rate of each policy, requests a {unit.removesuffix('s')}: {described}."
