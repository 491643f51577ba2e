"""The gaps of all policies against one thing that is varied: a small multiple."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from engine import wording
from engine.figures.layout import lay_out
from engine.figures.palette import BOUND_GREY, MEMORY_RED, SOLID, policy_style
from engine.figures.percent_axis import height, percent_axis
from engine.figures.ticks import short
from engine.sweeps.sensitivity import Point, Series

ROOM = 0.1  # of the axis, between two ticks


def draw_sensitivity(
    series: Series, points: Sequence[Point], everywhere: Sequence[Point]
) -> go.Figure:
    """One line a policy; where the sidebar stands is marked.

    Parameters
    ----------
    points : of this chart
    everywhere : the points of all its siblings, which share one scale of gaps
    """
    figure = go.Figure()
    # Dashed lines above the others: where two coincide, both are seen.
    for label, policy in sorted(labels(points).items(), key=lambda item: _is_dashed(item[1])):
        _add_line(figure, label, policy, points)
    values = [situation.value for situation in series.situations]
    scale = math.log10 if series.by_factor else float
    is_memory = series.varies == "memory"
    figure.add_vline(
        x=series.present,
        line={
            "color": MEMORY_RED if is_memory else BOUND_GREY,
            "width": 2 if is_memory else 1,
            "dash": "solid" if is_memory else "dot",
        },
        layer="below",
    )
    ends = [scale(values[0]), scale(values[-1])]
    ticks = _apart([scale(value) for value in values], ends)
    figure.update_xaxes(
        title=series.title,
        type="log" if series.by_factor else "linear",
        range=_padded(ends),
        tickvals=[value for value in values if scale(value) in ticks],
        ticktext=[short(value) for value in values if scale(value) in ticks],
        tickangle=0,
    )
    gaps = [r.gap for point in everywhere for r in point.readings.values() if r.gap is not None]
    figure.update_yaxes(**percent_axis(gaps or [1.0]))
    lay_out(figure, 320)
    return figure


def _is_dashed(policy: str) -> bool:
    return policy_style(policy)[1] != SOLID


def _add_line(figure: go.Figure, label: str, policy: str, points: Sequence[Point]) -> None:
    has = [point for point in points if label in point.readings]
    known = [(point, gap) for point in has if (gap := point.readings[label].gap) is not None]
    if not known:
        return
    colour, dash = policy_style(policy)
    figure.add_scatter(
        x=[point.value for point, _ in known],
        y=[height(gap) for _, gap in known],
        name=label,
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 2.5},
        marker={"size": 7},
        customdata=[
            [wording.number(point.value), wording.gap(gap), _who_ran(point)] for point, gap in known
        ],
        hovertemplate="at %{customdata[0]}: %{customdata[1]}<br>%{customdata[2]}"
        f"<extra>{label}</extra>",
    )


def _who_ran(point: Point) -> str:
    ran = wording.counted(point.requests, "request")
    return f"{ran}, {wording.count(point.set_aside)} set aside" if point.set_aside else ran


def labels(points: Sequence[Point]) -> dict[str, str]:
    """The policy of every run that any of the points has, by its label."""
    return {label: reading.policy for point in points for label, reading in point.readings.items()}


def _padded(ends: list[float]) -> list[float]:
    pad = 0.06 * (ends[1] - ends[0]) or 0.5
    return [ends[0] - pad, ends[1] + pad]


def _apart(values: Sequence[float], ends: Sequence[float]) -> list[float]:
    """The values whose ticks leave each other room, on an axis between the ends."""
    kept: list[float] = []
    for value in values:
        if not kept or value - kept[-1] >= ROOM * (ends[1] - ends[0]):
            kept.append(value)
    return kept


def describe_sensitivity(series: Series, points: Sequence[Point]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = "; ".join(
        f"at {wording.number(point.value)} "
        + ", ".join(f"{label} {wording.gap(r.gap)}" for label, r in point.readings.items())
        for point in points
    )
    return f"Gap of each policy against {series.title}: {described}."
