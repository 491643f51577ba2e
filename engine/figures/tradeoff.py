"""Time to first token against time per output token, along one parameter."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine.figures.layout import lay_out
from engine.figures.palette import policy_style
from engine.sweeps.tradeoff import PERCENT, TradeoffPoint
from engine.wording import count, number


def draw_tradeoff(
    outcomes: Sequence[TradeoffPoint], policy: str, name: str, unit: str
) -> go.Figure:
    """One dot a value of the parameter, joined in its order; down and to the left is better."""
    colour, dash = policy_style(policy)
    figure = go.Figure(
        go.Scatter(
            x=[outcome.ttft for outcome in outcomes],
            y=[outcome.tpot for outcome in outcomes],
            mode="lines+markers+text",
            line={"color": colour, "dash": dash, "width": 2},
            marker={"size": 10},
            text=[f"  {outcome.value:g}" for outcome in outcomes],
            textposition="middle right",
            cliponaxis=False,
            customdata=[
                [number(outcome.mean_latency), count(outcome.preemptions)] for outcome in outcomes
            ],
            hovertemplate=f"{name} = %{{text}}<br>P{PERCENT} TTFT %{{x:,.4g}} {unit}"
            f"<br>P{PERCENT} TPOT %{{y:,.4g}} {unit}<br>mean latency %{{customdata[0]}} {unit}"
            "<br>%{customdata[1]} preemptions<extra></extra>",
        )
    )
    figure.update_xaxes(title=f"P{PERCENT} time to first token ({unit})")
    figure.update_yaxes(title=f"P{PERCENT} time per output token ({unit})", automargin=True)
    lay_out(figure, 380, top=24, right=24)
    return figure


def describe_tradeoff(outcomes: Sequence[TradeoffPoint], name: str, unit: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = "; ".join(
        f"{outcome.value:g}: {number(outcome.ttft)} and {number(outcome.tpot)}"
        for outcome in outcomes
    )
    return f"P{PERCENT} time to first token and per output token ({unit}) by {name}: {described}."
