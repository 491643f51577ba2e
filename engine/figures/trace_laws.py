"""What a trace is like: its lengths, short and long, and how requests come over the day."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from engine import wording
from engine.demand.fit_laws import DailyCurve, Split
from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import LIMIT_GREY, MEMORY_RED, class_colour
from engine.figures.ticks import round_numbers, short
from engine.figures.time_axis import time_axis

BINS = 60
LEGEND = {**ABOVE, "traceorder": "normal"}


def draw_lengths(total: np.ndarray, split: Split | None, memory: int) -> go.Figure:
    """How many requests have which prompt + output, on a logarithmic axis; M in red if near.

    Parameters
    ----------
    total : (n,) tokens, s + o
    split : what parts short from long; None where all are alike
    """
    log = np.log10(total)
    low, high = float(log.min()) - 0.05, float(log.max()) + 0.05
    edges = np.linspace(low, high, BINS + 1)
    figure = go.Figure()
    kinds = {"all": np.ones(len(total), bool)}
    if split is not None:
        kinds = {"short": total <= split.border, "long": total > split.border}
    for number, (name, which) in enumerate(kinds.items()):
        count, _ = np.histogram(log[which], edges)
        figure.add_bar(
            x=(edges[1:] + edges[:-1]) / 2,
            y=count,
            width=np.diff(edges),
            name=f"{name} ({wording.percent(which.mean())})",
            marker={"color": class_colour(number), "line": {"width": 0}},
            customdata=np.round(10 ** edges[:-1]),
            hovertemplate="%{y:,} requests from %{customdata:,.0f} tokens"
            f"<extra>{name}</extra>",
        )
    if np.log10(memory) <= high + 0.3:
        high = max(high, float(np.log10(memory)) + 0.05)
        figure.add_vline(
            x=np.log10(memory), line={"color": MEMORY_RED, "width": 2}, annotation_text="M"
        )
    ticks = round_numbers(10**low, 10**high)
    figure.update_xaxes(
        title="prompt + output (tokens)",
        range=[low, high],
        tickvals=np.log10(ticks),
        ticktext=[short(tick) for tick in ticks],
    )
    figure.update_yaxes(title="requests", automargin=True)
    lay_out(figure, 320, legend=LEGEND, top=40, barmode="stack", bargap=0)
    return figure


def describe_lengths(total: np.ndarray, split: Split | None) -> str:
    """The chart in one sentence, for those who cannot see it."""
    middle = wording.tokens(int(np.median(total)))
    if split is None:
        return f"All requests have prompt and output of {middle} together."
    return (
        f"Lengths of prompt and output together: median {middle}, and "
        f"{wording.percent(split.long_share)} with more than {wording.count(split.border)}."
    )


def draw_curve(curve: DailyCurve, unit: str, unit_seconds: float | None) -> go.Figure:
    """Arrivals a clock unit in each slice of the trace; `unit_seconds` as in `time_axis`."""
    scale, title = time_axis(float(np.ptp(curve.edges)), unit, unit_seconds)
    figure = go.Figure(
        go.Scatter(
            x=(curve.edges - curve.edges[0]) / scale,
            y=np.append(curve.rate, curve.rate[-1]),
            mode="lines",
            line={"color": LIMIT_GREY, "width": 2.5, "shape": "hv"},
            fill="tozeroy",
            fillcolor="rgba(127, 127, 127, 0.15)",
            customdata=np.append(curve.count, curve.count[-1]),
            hovertemplate="%{y:.3g} a " + unit.removesuffix("s") + "<br>%{customdata:,} requests"
            "<extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(title=title)
    figure.update_yaxes(
        title=f"arrivals a {unit.removesuffix('s')}", rangemode="tozero", automargin=True
    )
    lay_out(figure, 320, legend=LEGEND, top=40)
    return figure


def describe_curve(curve: DailyCurve, unit: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    low, high = wording.number(curve.rate.min()), wording.number(curve.rate.max())
    return f"Arrivals a {unit.removesuffix('s')} over the trace: from {low} to {high}."
