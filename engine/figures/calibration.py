"""How well fitted round times describe the rounds that were seen."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from engine.calibrate import Fit
from engine.figures.layout import lay_out
from engine.figures.palette import BLUE, BOUND_GREY
from engine.figures.ticks import round_numbers, short

POINTS = 3000  # dots a chart; more cannot be told apart
MS = 1e3


def draw_calibration(fit: Fit) -> go.Figure:
    """Each round as a dot: how long it lasted against what the fit says, equal on the line."""
    rounds = fit.rounds
    order = np.argsort(rounds.seconds, kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(POINTS, len(order))).astype(int)]
    seen, fitted = MS * rounds.seconds[shown], MS * fit.predicted[shown]
    figure = go.Figure()
    ends = [float(min(seen.min(), fitted.min())), float(max(seen.max(), fitted.max()))]
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": BOUND_GREY, "dash": "dash", "width": 2},
        hoverinfo="skip",
    )
    figure.add_scattergl(
        x=seen,
        y=fitted,
        mode="markers",
        marker={"size": 6, "color": BLUE, "opacity": 0.5},
        customdata=np.column_stack(
            [rounds.prefilled[shown], rounds.decoding[shown], rounds.context[shown]]
        ),
        hovertemplate="seen %{x:.4g} ms, fitted %{y:.4g} ms<br>%{customdata[0]:,} tokens "
        "prefilled,<br>%{customdata[1]:,} requests decoding,<br>%{customdata[2]:,} tokens of "
        "cache read<extra></extra>",
    )
    ticks = round_numbers(ends[0] / 1.2, ends[1] * 1.2)
    axis = {"type": "log", "tickvals": ticks, "ticktext": [short(tick) for tick in ticks]}
    figure.update_xaxes(title="round as seen (ms)", **axis)
    figure.update_yaxes(title="round by the fit (ms)", automargin=True, **axis)
    lay_out(figure, 360, top=16)
    return figure


def describe_calibration(fit: Fit) -> str:
    """The chart in one sentence, for those who cannot see it."""
    return (
        f"Rounds as seen against the fit: {len(fit.rounds):,} rounds, mean error "
        f"{fit.error_percent:.2f} %."
    )
