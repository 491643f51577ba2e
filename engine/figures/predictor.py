"""What a predictor says against what comes: its calibration curve."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from engine import wording
from engine.figures.layout import BELOW, lay_out
from engine.figures.palette import BLUE, BOUND_GREY, SKY
from engine.figures.ticks import round_numbers, short
from engine.uncertainty.pairs import Pairs, calibrate, groups

DOTS = 1500  # more cannot be told apart


def draw_predictor(pairs: Pairs) -> go.Figure:
    """Requests as dots; groups of like prediction as their median with the middle 80 %."""
    figure = go.Figure()
    both = np.concatenate([pairs.predicted, pairs.true])
    ends = [float(both.min()), float(both.max())]
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        name="right",
        line={"color": BOUND_GREY, "dash": "dash", "width": 2},
        hoverinfo="skip",
    )
    shown = np.linspace(0, len(pairs) - 1, min(DOTS, len(pairs))).astype(int)
    figure.add_scattergl(
        x=pairs.predicted[shown],
        y=pairs.true[shown],
        mode="markers",
        name="a request",
        marker={"size": 4, "color": SKY, "opacity": 0.4},
        hovertemplate="predicted %{x:,.0f}, came %{y:,.0f} tokens<extra></extra>",
    )
    _add_groups(figure, pairs)
    ticks = round_numbers(ends[0] / 1.2, ends[1] * 1.2)
    axis = {"type": "log", "tickvals": ticks, "ticktext": [short(tick) for tick in ticks]}
    figure.update_xaxes(title="predicted output (tokens)", **axis)
    figure.update_yaxes(title="true output (tokens)", automargin=True, **axis)
    lay_out(figure, 380, legend=BELOW)
    return figure


def _add_groups(figure: go.Figure, pairs: Pairs) -> None:
    parts = groups(pairs)
    low, middle, high = (
        np.array([np.quantile(pairs.true[part], level) for part in parts])
        for level in (0.1, 0.5, 0.9)
    )
    figure.add_scatter(
        x=[float(np.median(pairs.predicted[part])) for part in parts],
        y=middle,
        mode="lines+markers",
        name="median, and the middle 80 %, of about equal groups",
        line={"color": BLUE, "width": 2.5},
        marker={"size": 8},
        error_y={"type": "data", "symmetric": False, "array": high - middle,
                 "arrayminus": middle - low, "color": BLUE},
        customdata=np.column_stack([low, high, [len(part) for part in parts]]),
        hovertemplate="predicted about %{x:,.0f}: %{y:,.0f} tokens in the median,<br>"
        "%{customdata[0]:,.0f} to %{customdata[1]:,.0f} for 80 % of "
        "%{customdata[2]:,}<extra></extra>",
    )  # fmt: skip


def describe_predictor(pairs: Pairs) -> str:
    """The chart in one sentence, for those who cannot see it."""
    record = calibrate(pairs)
    return (
        f"True against predicted output of {wording.counted(record.pairs, 'request')}: "
        f"{wording.ratio(record.bias)} the true output in the median, "
        f"{wording.percent(record.within)} within a factor of 1.5."
    )
