"""A day: how many servers each hour, and what waiting less would cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go

from engine import wording
from engine.capacity.day import DayPlan, pareto
from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import LIMIT_GREY, policy_style


def draw_day(plans: Sequence[DayPlan]) -> go.Figure:
    """The fewest servers in each hour, one step line a policy."""
    figure = go.Figure()
    for plan in (plan for plan in plans if plan.spare == 0):
        colour, dash = policy_style(plan.choice.key)
        hours = len(plan.servers)
        figure.add_scatter(
            x=list(range(hours + 1)),
            y=[*plan.servers, plan.servers[-1]],
            customdata=[*plan.rates, plan.rates[-1]],
            mode="lines",
            name=plan.label,
            line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
            hovertemplate="hour %{x}: %{y} servers for %{customdata:.4g}"
            f"<extra>{plan.label}</extra>",
        )
    figure.update_xaxes(title="hour", range=[0, 24], dtick=4)
    figure.update_yaxes(title="servers", rangemode="tozero", automargin=True)
    lay_out(figure, 380, legend=ABOVE, top=40)
    return figure


def describe_day(plans: Sequence[DayPlan]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = ", ".join(
        f"{plan.label} {min(plan.servers)} to {max(plan.servers)}"
        for plan in plans
        if plan.spare == 0
    )
    return f"Fewest servers in each hour of a day: {described}."


def draw_pareto(
    plans: Sequence[DayPlan], cost: Callable[[DayPlan], float], unit: str, percent: float
) -> go.Figure:
    """Cost of the day against the latency percentile in its worst hour; the front is ringed."""
    figure = go.Figure()
    for label in dict.fromkeys(plan.label for plan in plans):
        of_policy = [plan for plan in plans if plan.label == label]
        colour, dash = policy_style(of_policy[0].choice.key)
        figure.add_scatter(
            x=[cost(plan) for plan in of_policy],
            y=[plan.worst for plan in of_policy],
            mode="lines+markers",
            name=label,
            line={"color": colour, "dash": dash, "width": 2},
            marker={"size": 9},
            customdata=[plan.spare for plan in of_policy],
            hovertemplate="%{x:,.4g} USD a day<br>%{y:,.4g} " + unit
            + f"<br>%{{customdata}} spare servers<extra>{label}</extra>",
        )  # fmt: skip
    front = pareto(plans, cost)
    figure.add_scatter(
        x=[cost(plan) for plan in front],
        y=[plan.worst for plan in front],
        mode="markers",
        name="nobody beats",
        marker={
            "symbol": "circle-open",
            "size": 17,
            "color": LIMIT_GREY,
            "line": {"width": 2},
        },
        hoverinfo="skip",
    )
    figure.update_xaxes(title="USD a day")
    figure.update_yaxes(
        title=f"P{percent:g} latency, worst hour ({unit})", type="log", automargin=True
    )
    lay_out(figure, 380, legend=ABOVE, top=40)
    return figure


def describe_pareto(plans: Sequence[DayPlan], cost: Callable[[DayPlan], float], unit: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = "; ".join(
        f"{plan.label} with {plan.spare} spare: {wording.number(cost(plan))} USD and "
        f"{wording.amount(plan.worst, unit)}"
        for plan in pareto(plans, cost)
    )
    return f"Plans that no other beats in cost and in latency: {described}."
